SELECT
  CASE
    WHEN LENGTH(TRIM(CAST("s"."illness" AS TEXT), "p"."t0_0_unseen")) - (
      "p"."t0_0_left" + "p"."t0_0_right"
    ) >= 3
    THEN LEFT(TRIM(CAST("s"."illness" AS TEXT), "p"."t0_0_unseen"), "p"."t0_0_left") || '***' || RIGHT(TRIM(CAST("s"."illness" AS TEXT), "p"."t0_0_unseen"), "p"."t0_0_right")
  END AS "illness"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
