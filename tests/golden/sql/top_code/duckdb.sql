SELECT
  CASE
    WHEN "s"."age" >= "p"."t0_0_limit"
    THEN "p"."t0_0_label"
    ELSE CAST("s"."age" AS TEXT)
  END AS "age",
  CASE
    WHEN "s"."income" >= "p"."t1_0_limit"
    THEN TRY_CAST("p"."t1_0_limit" AS DECIMAL(10, 2))
    ELSE "s"."income"
  END AS "income"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
