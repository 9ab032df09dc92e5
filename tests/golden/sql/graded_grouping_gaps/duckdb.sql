SELECT
  "s"."id" AS "id",
  CASE
    WHEN "s"."ppdm_t1_0_0" >= "p"."t1_0_low_1"
    THEN CASE
      WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_low_2"
      THEN CASE
        WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_high_1"
        AND "p"."t1_0_name_1" + (
          (
            "s"."ppdm_t1_0_0" - "p"."t1_0_low_1"
          ) / (
            "p"."t1_0_high_1" - "p"."t1_0_low_1"
          )
        ) <= "p"."t1_0_last_1"
        THEN "p"."t1_0_name_1" + (
          (
            "s"."ppdm_t1_0_0" - "p"."t1_0_low_1"
          ) / (
            "p"."t1_0_high_1" - "p"."t1_0_low_1"
          )
        )
        WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_high_1"
        THEN "p"."t1_0_last_1"
        WHEN "s"."ppdm_t1_0_0" = "p"."t1_0_high_1"
        THEN "p"."t1_0_name_1" + CAST('0.999' AS DOUBLE)
      END
      ELSE CASE
        WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_low_3"
        THEN CASE
          WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_high_2"
          AND "p"."t1_0_name_2" + (
            (
              "s"."ppdm_t1_0_0" - "p"."t1_0_low_2"
            ) / (
              "p"."t1_0_high_2" - "p"."t1_0_low_2"
            )
          ) <= "p"."t1_0_last_2"
          THEN "p"."t1_0_name_2" + (
            (
              "s"."ppdm_t1_0_0" - "p"."t1_0_low_2"
            ) / (
              "p"."t1_0_high_2" - "p"."t1_0_low_2"
            )
          )
          WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_high_2"
          THEN "p"."t1_0_last_2"
          WHEN "s"."ppdm_t1_0_0" = "p"."t1_0_high_2"
          THEN "p"."t1_0_name_2" + CAST('0.999' AS DOUBLE)
        END
        ELSE CASE
          WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_high_3"
          AND "p"."t1_0_name_3" + (
            (
              "s"."ppdm_t1_0_0" - "p"."t1_0_low_3"
            ) / (
              "p"."t1_0_high_3" - "p"."t1_0_low_3"
            )
          ) <= "p"."t1_0_last_3"
          THEN "p"."t1_0_name_3" + (
            (
              "s"."ppdm_t1_0_0" - "p"."t1_0_low_3"
            ) / (
              "p"."t1_0_high_3" - "p"."t1_0_low_3"
            )
          )
          WHEN "s"."ppdm_t1_0_0" < "p"."t1_0_high_3"
          THEN "p"."t1_0_last_3"
          WHEN "s"."ppdm_t1_0_0" = "p"."t1_0_high_3"
          THEN "p"."t1_0_name_3" + CAST('0.999' AS DOUBLE)
        END
      END
    END
  END AS "age"
FROM (
  SELECT
    "s"."id" AS "id",
    "s"."age" AS "age",
    CAST("s"."age" AS DOUBLE) AS "ppdm_t1_0_0"
  FROM "clinic"."people" AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
