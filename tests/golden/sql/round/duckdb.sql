SELECT
  TRY_CAST((
    CAST("s"."age" AS INT128) - (
      (
        CAST("s"."age" AS INT128) % CAST("p"."t0_0_to" AS INT128) + CAST("p"."t0_0_to" AS INT128)
      ) % CAST("p"."t0_0_to" AS INT128)
    )
  ) + (
    CASE
      WHEN 2 * (
        (
          CAST("s"."age" AS INT128) % CAST("p"."t0_0_to" AS INT128) + CAST("p"."t0_0_to" AS INT128)
        ) % CAST("p"."t0_0_to" AS INT128)
      ) >= CAST("p"."t0_0_to" AS INT128)
      THEN CAST("p"."t0_0_to" AS INT128)
      ELSE CAST(0 AS INT128)
    END
  ) AS BIGINT) AS "age",
  CASE
    WHEN FLOOR(
      (
        CASE
          WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
          AND "s"."weight" < CAST('1e+300' AS DOUBLE)
          THEN "s"."weight"
        END
      ) * "p"."t1_0_times" / "p"."t1_0_by" + CAST('0.5' AS DOUBLE)
    ) * "p"."t1_0_by" / "p"."t1_0_times" > CAST('-Infinity' AS DOUBLE)
    AND FLOOR(
      (
        CASE
          WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
          AND "s"."weight" < CAST('1e+300' AS DOUBLE)
          THEN "s"."weight"
        END
      ) * "p"."t1_0_times" / "p"."t1_0_by" + CAST('0.5' AS DOUBLE)
    ) * "p"."t1_0_by" / "p"."t1_0_times" < CAST('Infinity' AS DOUBLE)
    THEN FLOOR(
      (
        CASE
          WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
          AND "s"."weight" < CAST('1e+300' AS DOUBLE)
          THEN "s"."weight"
        END
      ) * "p"."t1_0_times" / "p"."t1_0_by" + CAST('0.5' AS DOUBLE)
    ) * "p"."t1_0_by" / "p"."t1_0_times"
  END AS "weight",
  FLOOR(
    (
      CAST("s"."income" AS DOUBLE)
    ) * "p"."t2_0_times" / "p"."t2_0_by" + CAST('0.5' AS DOUBLE)
  ) * "p"."t2_0_by" / "p"."t2_0_times" AS "income"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
