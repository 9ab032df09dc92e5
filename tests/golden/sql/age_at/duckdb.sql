SELECT
  CASE
    WHEN (
      "p"."t0_0_year" - CAST(EXTRACT(YEAR FROM CASE
        WHEN CAST("s"."born" AS DATE) >= CAST('0001-01-01' AS DATE)
        AND CAST("s"."born" AS DATE) <= CAST('9999-12-31' AS DATE)
        THEN "s"."born"
      END) AS BIGINT) - CAST((
        (
          CAST(EXTRACT(MONTH FROM CASE
            WHEN CAST("s"."born" AS DATE) >= CAST('0001-01-01' AS DATE)
            AND CAST("s"."born" AS DATE) <= CAST('9999-12-31' AS DATE)
            THEN "s"."born"
          END) AS BIGINT) * 100 + CAST(EXTRACT(DAY FROM CASE
            WHEN CAST("s"."born" AS DATE) >= CAST('0001-01-01' AS DATE)
            AND CAST("s"."born" AS DATE) <= CAST('9999-12-31' AS DATE)
            THEN "s"."born"
          END) AS BIGINT)
        ) > "p"."t0_0_place"
      ) AS BIGINT)
    ) >= 0
    THEN "p"."t0_0_year" - CAST(EXTRACT(YEAR FROM CASE
      WHEN CAST("s"."born" AS DATE) >= CAST('0001-01-01' AS DATE)
      AND CAST("s"."born" AS DATE) <= CAST('9999-12-31' AS DATE)
      THEN "s"."born"
    END) AS BIGINT) - CAST((
      (
        CAST(EXTRACT(MONTH FROM CASE
          WHEN CAST("s"."born" AS DATE) >= CAST('0001-01-01' AS DATE)
          AND CAST("s"."born" AS DATE) <= CAST('9999-12-31' AS DATE)
          THEN "s"."born"
        END) AS BIGINT) * 100 + CAST(EXTRACT(DAY FROM CASE
          WHEN CAST("s"."born" AS DATE) >= CAST('0001-01-01' AS DATE)
          AND CAST("s"."born" AS DATE) <= CAST('9999-12-31' AS DATE)
          THEN "s"."born"
        END) AS BIGINT)
      ) > "p"."t0_0_place"
    ) AS BIGINT)
  END AS "born"
FROM (
  SELECT "id", CAST(epoch_ms("id") AS DATE) AS "born" FROM "clinic"."people"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
