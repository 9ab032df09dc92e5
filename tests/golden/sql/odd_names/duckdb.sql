SELECT
  "s"."t0_0_c0" AS "SELECT",
  "s"."t1_0_c0" AS "we""ird; --",
  "s"."t2_0_c0" AS "Ünï",
  "s"."t3_0_c0" AS "s",
  "s"."t4_0_c0" AS "p",
  "s"."t5_0_c0" AS "m0"
FROM (
  SELECT
    CASE
      WHEN "s"."ppdm_t0_0_0" >= "p"."t0_0_low_1"
      THEN CASE
        WHEN "s"."ppdm_t0_0_0" < "p"."t0_0_high_1"
        AND "p"."t0_0_name_1" + (
          (
            "s"."ppdm_t0_0_0" - "p"."t0_0_low_1"
          ) / (
            "p"."t0_0_high_1" - "p"."t0_0_low_1"
          )
        ) <= "p"."t0_0_last_1"
        THEN "p"."t0_0_name_1" + (
          (
            "s"."ppdm_t0_0_0" - "p"."t0_0_low_1"
          ) / (
            "p"."t0_0_high_1" - "p"."t0_0_low_1"
          )
        )
        WHEN "s"."ppdm_t0_0_0" < "p"."t0_0_high_1"
        THEN "p"."t0_0_last_1"
        WHEN "s"."ppdm_t0_0_0" = "p"."t0_0_high_1"
        THEN "p"."t0_0_name_1" + CAST('0.999' AS DOUBLE)
      END
    END AS "t0_0_c0",
    "m0"."released" AS "t1_0_c0",
    CASE
      WHEN "s"."Ünï" >= "p"."t2_0_low_1"
      THEN CASE
        WHEN "s"."Ünï" < "p"."t2_0_high_1"
        AND "p"."t2_0_name_1" + (
          (
            "s"."Ünï" - "p"."t2_0_low_1"
          ) / (
            "p"."t2_0_high_1" - "p"."t2_0_low_1"
          )
        ) <= "p"."t2_0_last_1"
        THEN "p"."t2_0_name_1" + (
          (
            "s"."Ünï" - "p"."t2_0_low_1"
          ) / (
            "p"."t2_0_high_1" - "p"."t2_0_low_1"
          )
        )
        WHEN "s"."Ünï" < "p"."t2_0_high_1"
        THEN "p"."t2_0_last_1"
        WHEN "s"."Ünï" = "p"."t2_0_high_1"
        THEN "p"."t2_0_name_1" + CAST('0.999' AS DOUBLE)
      END
    END AS "t2_0_c0",
    SUBSTRING(SHA256("p"."t3_0_key" || ':p:' || CAST("s"."s" AS TEXT)), 1, 16) AS "t3_0_c0",
    "m1"."released" AS "t4_0_c0",
    "s"."m0" AS "t5_0_c0"
  FROM (
    SELECT
      "s"."select" AS "select",
      "s"."we""ird; --" AS "we""ird; --",
      "s"."Ünï" AS "Ünï",
      "s"."s" AS "s",
      "s"."p" AS "p",
      "s"."m0" AS "m0",
      CAST("s"."select" AS DOUBLE) AS "ppdm_t0_0_0"
    FROM "clinic"."a ""table""" AS "s"
  ) AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
  LEFT JOIN "ppdm_owner"."r1_v1_t1_0_aliases" AS "m0"
    ON "s"."we""ird; --" COLLATE "C" = "m0"."original"
  LEFT JOIN "ppdm_owner"."r1_v1_t4_0_aliases" AS "m1"
    ON "s"."p" COLLATE "C" = "m1"."original"
) AS "s"
