SELECT
  CASE
    WHEN "s"."age" <= "p"."t0_0_limit"
    THEN TRY_CAST("p"."t0_0_limit" AS INT)
    ELSE "s"."age"
  END AS "age",
  CASE
    WHEN "s"."weight" <= "p"."t1_0_limit"
    THEN TRY_CAST("p"."t1_0_limit" AS DOUBLE)
    ELSE "s"."weight"
  END AS "weight"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
