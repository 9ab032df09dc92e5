SELECT
  CASE
    WHEN LENGTH(CAST("s"."illness" AS TEXT)) - (
      "p"."t0_0_left" + "p"."t0_0_right"
    ) >= 3
    THEN LEFT(CAST("s"."illness" AS TEXT), "p"."t0_0_left") || '***' || RIGHT(CAST("s"."illness" AS TEXT), "p"."t0_0_right")
  END AS "illness"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
