SELECT
  SUBSTRING(SHA256("p"."t0_0_key" || ':p:' || CAST("s"."id" AS TEXT)), 1, 16) AS "id",
  "m0"."released" AS "ward",
  CASE
    WHEN "s"."ppdm_t2_0_0" >= "p"."t2_0_low_1"
    THEN CASE
      WHEN "s"."ppdm_t2_0_0" < "p"."t2_0_low_2"
      THEN "p"."t2_0_name_1" + (
        (
          "s"."ppdm_t2_0_0" - "p"."t2_0_low_1"
        ) / (
          "p"."t2_0_high_1" - "p"."t2_0_low_1"
        )
      )
      ELSE CASE
        WHEN "s"."ppdm_t2_0_0" < "p"."t2_0_high_2"
        AND "p"."t2_0_name_2" + (
          (
            "s"."ppdm_t2_0_0" - "p"."t2_0_low_2"
          ) / (
            "p"."t2_0_high_2" - "p"."t2_0_low_2"
          )
        ) <= "p"."t2_0_last_2"
        THEN "p"."t2_0_name_2" + (
          (
            "s"."ppdm_t2_0_0" - "p"."t2_0_low_2"
          ) / (
            "p"."t2_0_high_2" - "p"."t2_0_low_2"
          )
        )
        WHEN "s"."ppdm_t2_0_0" < "p"."t2_0_high_2"
        THEN "p"."t2_0_last_2"
        WHEN "s"."ppdm_t2_0_0" = "p"."t2_0_high_2"
        THEN "p"."t2_0_name_2" + CAST('0.999' AS DOUBLE)
      END
    END
  END AS "age"
FROM (
  SELECT
    "s"."id" AS "id",
    "s"."ward" AS "ward",
    "s"."age" AS "age",
    CAST("s"."age" AS DOUBLE) AS "ppdm_t2_0_0"
  FROM (
    SELECT "p"."id", upper("p"."ward") AS "ward", "p"."age" + 1 AS "age"
        FROM "clinic"."people" AS "p"
        WHERE "p"."age" IS NOT NULL
  ) AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_aliases" AS "m0"
  ON "s"."ward" COLLATE "C" = "m0"."original"
