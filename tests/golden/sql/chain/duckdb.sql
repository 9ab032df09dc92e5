SELECT
  "s"."t0_0_c0" AS "id",
  "s"."t1_0_c0" AS "age",
  "m0"."released" AS "illness",
  "s"."t3_0_c0" AS "name",
  "s"."t3_0_c1" AS "ward"
FROM (
  SELECT
    "s"."t0_0_c0" AS "t0_0_c0",
    CASE
      WHEN "s"."ppdm_t1_1_0" >= "p"."t1_1_low_1"
      THEN CASE
        WHEN "s"."ppdm_t1_1_0" < "p"."t1_1_low_2"
        THEN "p"."t1_1_name_1" + (
          (
            "s"."ppdm_t1_1_0" - "p"."t1_1_low_1"
          ) / (
            "p"."t1_1_high_1" - "p"."t1_1_low_1"
          )
        )
        ELSE CASE
          WHEN "s"."ppdm_t1_1_0" < "p"."t1_1_high_2"
          AND "p"."t1_1_name_2" + (
            (
              "s"."ppdm_t1_1_0" - "p"."t1_1_low_2"
            ) / (
              "p"."t1_1_high_2" - "p"."t1_1_low_2"
            )
          ) <= "p"."t1_1_last_2"
          THEN "p"."t1_1_name_2" + (
            (
              "s"."ppdm_t1_1_0" - "p"."t1_1_low_2"
            ) / (
              "p"."t1_1_high_2" - "p"."t1_1_low_2"
            )
          )
          WHEN "s"."ppdm_t1_1_0" < "p"."t1_1_high_2"
          THEN "p"."t1_1_last_2"
          WHEN "s"."ppdm_t1_1_0" = "p"."t1_1_high_2"
          THEN "p"."t1_1_name_2" + CAST('0.999' AS DOUBLE)
        END
      END
    END AS "t1_0_c0",
    SUBSTRING(SHA256("p"."t2_1_key" || ':p:' || CAST("s"."t2_0_c0" AS TEXT)), 1, 8) AS "t2_0_c0",
    CAST(NULL AS TEXT) AS "t3_0_c0",
    CAST(NULL AS TEXT) AS "t3_0_c1"
  FROM (
    SELECT
      "s"."t0_0_c0" AS "t0_0_c0",
      "s"."t1_0_c0" AS "t1_0_c0",
      "s"."t2_0_c0" AS "t2_0_c0",
      "s"."t3_0_c0" AS "t3_0_c0",
      "s"."t3_0_c1" AS "t3_0_c1",
      CAST("s"."t1_0_c0" AS DOUBLE) AS "ppdm_t1_1_0"
    FROM (
      SELECT
        SUBSTRING(SHA256("p"."t0_0_key" || ':p:' || CAST("s"."id" AS TEXT)), 1, 16) AS "t0_0_c0",
        "s"."age" AS "t1_0_c0",
        "m0"."released" AS "t2_0_c0",
        "s"."name" AS "t3_0_c0",
        "s"."ward" AS "t3_0_c1"
      FROM "clinic"."people" AS "s"
      CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
      LEFT JOIN "ppdm_owner"."r1_v1_t2_0_aliases" AS "m0"
        ON "s"."illness" COLLATE "C" = "m0"."original"
    ) AS "s"
  ) AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
) AS "s"
LEFT JOIN "ppdm_owner"."r1_v1_t2_2_aliases" AS "m0"
  ON "s"."t2_0_c0" COLLATE "C" = "m0"."original"
