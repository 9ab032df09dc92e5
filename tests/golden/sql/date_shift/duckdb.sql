SELECT
  SUBSTRING(SHA256("p"."t0_0_key" || ':p:' || CAST("s"."id" AS TEXT)), 1, 16) AS "id",
  (
    CASE
      WHEN CAST("s"."seen" AS DATE) >= CAST('0001-01-01' AS DATE)
      AND CAST("s"."seen" AS DATE) <= CAST('9999-12-31' AS DATE)
      THEN "s"."seen"
    END
  ) + CAST(CASE
    WHEN "s"."ppdm_t1_0_1" >= -1000000 AND "s"."ppdm_t1_0_1" <= 1000000
    THEN "s"."ppdm_t1_0_1"
  END AS INT) AS "seen",
  TRY_CAST((
    CASE
      WHEN CAST("s"."came" AS DATE) >= CAST('0001-01-01' AS DATE)
      AND CAST("s"."came" AS DATE) <= CAST('9999-12-31' AS DATE)
      THEN "s"."came"
    END
  ) + CAST(CASE
    WHEN "s"."ppdm_t1_0_1" >= -1000000 AND "s"."ppdm_t1_0_1" <= 1000000
    THEN "s"."ppdm_t1_0_1"
  END AS INT) * INTERVAL '1' DAY AS TIMESTAMP) AS "came"
FROM (
  SELECT
    "s"."id" AS "id",
    "s"."seen" AS "seen",
    "s"."came" AS "came",
    "s"."ppdm_t1_0_0" AS "ppdm_t1_0_0",
    (
      "s"."ppdm_t1_0_0" - 3 + CAST((
        "s"."ppdm_t1_0_0" >= 3
      ) AS INT)
    ) * 7 AS "ppdm_t1_0_1"
  FROM (
    SELECT
      "s"."id" AS "id",
      "s"."seen" AS "seen",
      "s"."came" AS "came",
      CAST('0x' || SUBSTRING(SHA256("p"."t1_0_key" || ':p:' || CAST(CAST("s"."id" AS BIGINT) AS TEXT)), 1, 15) AS BIGINT) % 6 AS "ppdm_t1_0_0"
    FROM (
      SELECT "id", CAST(epoch_ms("id") AS DATE) AS "seen", epoch_ms("id") AS "came" FROM "clinic"."people"
    ) AS "s"
    CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
  ) AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
