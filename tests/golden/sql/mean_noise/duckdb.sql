SELECT
  CASE
    WHEN "s"."ppdm_t0_0_0" >= "p"."t0_0_mean"
    THEN "s"."ppdm_t0_0_0" - "p"."t0_0_down"
    WHEN "s"."ppdm_t0_0_0" < "p"."t0_0_mean"
    THEN "s"."ppdm_t0_0_0" + "p"."t0_0_up"
  END AS "income"
FROM (
  SELECT
    "s"."income" AS "income",
    CAST("s"."income" AS DOUBLE) AS "ppdm_t0_0_0"
  FROM "clinic"."people" AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
