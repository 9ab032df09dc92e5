SELECT
  CASE
    WHEN NOT "s"."ppdm_t1_0_0" IS NULL
    THEN TRY_CAST((
      CAST("s"."age" AS INT128) - (
        (
          CAST("s"."age" AS INT128) % CAST("p"."t1_0_to" AS INT128) + CAST("p"."t1_0_to" AS INT128)
        ) % CAST("p"."t1_0_to" AS INT128)
      )
    ) + (
      CASE
        WHEN CAST((
          (
            CAST("s"."age" AS INT128) % CAST("p"."t1_0_to" AS INT128) + CAST("p"."t1_0_to" AS INT128)
          ) % CAST("p"."t1_0_to" AS INT128)
        ) AS DOUBLE) > "s"."ppdm_t1_0_0" * CAST(CAST("p"."t1_0_to" AS INT128) AS DOUBLE)
        THEN CAST("p"."t1_0_to" AS INT128)
        ELSE CAST(0 AS INT128)
      END
    ) AS BIGINT)
  END AS "age",
  CASE
    WHEN NOT "s"."ppdm_t2_0_1" IS NULL
    THEN CASE
      WHEN FLOOR(
        (
          CASE
            WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
            AND "s"."weight" < CAST('1e+300' AS DOUBLE)
            THEN "s"."weight"
          END
        ) * "p"."t2_0_times" / "p"."t2_0_by" + (
          CAST('1.0' AS DOUBLE) - "s"."ppdm_t2_0_1"
        )
      ) * "p"."t2_0_by" / "p"."t2_0_times" > CAST('-Infinity' AS DOUBLE)
      AND FLOOR(
        (
          CASE
            WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
            AND "s"."weight" < CAST('1e+300' AS DOUBLE)
            THEN "s"."weight"
          END
        ) * "p"."t2_0_times" / "p"."t2_0_by" + (
          CAST('1.0' AS DOUBLE) - "s"."ppdm_t2_0_1"
        )
      ) * "p"."t2_0_by" / "p"."t2_0_times" < CAST('Infinity' AS DOUBLE)
      THEN FLOOR(
        (
          CASE
            WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
            AND "s"."weight" < CAST('1e+300' AS DOUBLE)
            THEN "s"."weight"
          END
        ) * "p"."t2_0_times" / "p"."t2_0_by" + (
          CAST('1.0' AS DOUBLE) - "s"."ppdm_t2_0_1"
        )
      ) * "p"."t2_0_by" / "p"."t2_0_times"
    END
  END AS "weight"
FROM (
  SELECT
    "s"."age" AS "age",
    "s"."weight" AS "weight",
    "s"."id" AS "id",
    ppdm_uniform(
      "p"."t1_0_key_high_0",
      "p"."t1_0_key_low_0",
      CAST("s"."id" AS BIGINT),
      TRY_CAST("s"."age" AS DOUBLE)
    ) AS "ppdm_t1_0_0",
    ppdm_uniform("p"."t2_0_key_high_0", "p"."t2_0_key_low_0", CAST("s"."id" AS BIGINT), "s"."weight") AS "ppdm_t2_0_1"
  FROM "clinic"."people" AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
