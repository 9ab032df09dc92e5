SELECT
  CAST(DATE_TRUNC(
    'MONTH',
    CASE
      WHEN CAST("s"."seen" AS DATE) >= CAST('0001-01-01' AS DATE)
      AND CAST("s"."seen" AS DATE) <= CAST('9999-12-31' AS DATE)
      THEN "s"."seen"
    END
  ) AS DATE) AS "seen",
  CAST(DATE_TRUNC(
    'HOUR',
    CASE
      WHEN CAST("s"."came" AS DATE) >= CAST('0001-01-01' AS DATE)
      AND CAST("s"."came" AS DATE) <= CAST('9999-12-31' AS DATE)
      THEN "s"."came"
    END
  ) AS TIMESTAMP) AS "came"
FROM (
  SELECT "id", CAST(epoch_ms("id") AS DATE) AS "seen", epoch_ms("id") AS "came" FROM "clinic"."people"
) AS "s"
