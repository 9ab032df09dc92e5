SELECT
  "s"."ppdm_t0_0_0" * "p"."t0_0_weight_0_0" + CASE
    WHEN "p"."t0_0_weight_0_1" = CAST('0' AS DOUBLE)
    THEN CAST('0' AS DOUBLE)
    ELSE "s"."ppdm_t0_0_1" * "p"."t0_0_weight_0_1"
  END + "p"."t0_0_shift_0" AS "age",
  "s"."ppdm_t0_0_1" * "p"."t0_0_weight_1_1" + CASE
    WHEN "p"."t0_0_weight_1_0" = CAST('0' AS DOUBLE)
    THEN CAST('0' AS DOUBLE)
    ELSE "s"."ppdm_t0_0_0" * "p"."t0_0_weight_1_0"
  END + "p"."t0_0_shift_1" AS "weight"
FROM (
  SELECT
    "s"."age" AS "age",
    "s"."weight" AS "weight",
    CAST("s"."age" AS DOUBLE) AS "ppdm_t0_0_0",
    CASE
      WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
      AND "s"."weight" < CAST('1e+300' AS DOUBLE)
      THEN "s"."weight"
    END AS "ppdm_t0_0_1"
  FROM "clinic"."people" AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
