SELECT
  CASE
    WHEN "s"."age" <= "p"."t0_0_limit"
    THEN TRY_CAST("p"."t0_0_limit" AS INT)
    ELSE "s"."age"
  END AS "age",
  CASE
    WHEN "s"."weight" <= "p"."t1_0_limit"
    AND NOT (
      CASE
        WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
        AND "s"."weight" < CAST('1e+300' AS DOUBLE)
        THEN "s"."weight"
      END
    ) IS NULL
    THEN TRY_CAST("p"."t1_0_limit" AS DOUBLE)
    ELSE (
      CASE
        WHEN NOT (
          CASE
            WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
            AND "s"."weight" < CAST('1e+300' AS DOUBLE)
            THEN "s"."weight"
          END
        ) IS NULL
        THEN "s"."weight"
      END
    )
  END AS "weight"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
