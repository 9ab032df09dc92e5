SELECT
  CAST(CASE
    WHEN NOT "m1"."released" IS NULL AND NOT "s"."ppdm_t1_0_0" IS NULL
    THEN CASE
      WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_keep"
      THEN "m1"."released"
      ELSE "m0"."released"
    END
  END AS TEXT) AS "illness",
  CAST(CASE
    WHEN NOT "m3"."released" IS NULL AND NOT "s"."ppdm_t2_0_2" IS NULL
    THEN CASE
      WHEN "s"."ppdm_t2_0_2" < "p"."t2_0_keep"
      THEN "m3"."released"
      ELSE "m2"."released"
    END
  END AS INT) AS "age"
FROM (
  SELECT
    "s"."illness" AS "illness",
    "s"."age" AS "age",
    "s"."id" AS "id",
    "s"."ppdm_t1_0_0" AS "ppdm_t1_0_0",
    "s"."ppdm_t2_0_2" AS "ppdm_t2_0_2",
    (
      "s"."ppdm_t1_0_0" - "p"."t1_0_keep"
    ) / (
      CAST('1.0' AS DOUBLE) - "p"."t1_0_keep"
    ) AS "ppdm_t1_0_1",
    (
      "s"."ppdm_t2_0_2" - "p"."t2_0_keep"
    ) / (
      CAST('1.0' AS DOUBLE) - "p"."t2_0_keep"
    ) AS "ppdm_t2_0_3"
  FROM (
    SELECT
      "s"."illness" AS "illness",
      "s"."age" AS "age",
      "s"."id" AS "id",
      ppdm_uniform(
        "p"."t1_0_key_high_0",
        "p"."t1_0_key_low_0",
        CAST("s"."id" AS BIGINT),
        CAST(CAST('0x' || SUBSTRING(SHA256(CAST("s"."illness" AS TEXT)), 1, 13) AS BIGINT) AS DOUBLE)
      ) AS "ppdm_t1_0_0",
      ppdm_uniform(
        "p"."t2_0_key_high_0",
        "p"."t2_0_key_low_0",
        CAST("s"."id" AS BIGINT),
        CAST(CAST('0x' || SUBSTRING(SHA256(CAST("s"."age" AS TEXT)), 1, 13) AS BIGINT) AS DOUBLE)
      ) AS "ppdm_t2_0_2"
    FROM "clinic"."people" AS "s"
    CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
  ) AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
ASOF LEFT JOIN "ppdm_owner"."r1_v1_t1_0_shares" AS "m0"
  ON "s"."ppdm_t1_0_1" >= "m0"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_known" AS "m1"
  ON CAST("s"."illness" AS TEXT) = "m1"."original"
ASOF LEFT JOIN "ppdm_owner"."r1_v1_t2_0_shares" AS "m2"
  ON "s"."ppdm_t2_0_3" >= "m2"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t2_0_known" AS "m3"
  ON CAST("s"."age" AS TEXT) = "m3"."original"
