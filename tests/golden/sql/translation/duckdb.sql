SELECT
  CAST("s"."age" AS BIGINT) + "p"."t0_0_by_0" AS "age",
  CASE
    WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
    AND "s"."weight" < CAST('1e+300' AS DOUBLE)
    THEN "s"."weight"
  END + "p"."t1_0_by_0" AS "weight"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
