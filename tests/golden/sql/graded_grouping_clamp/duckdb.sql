SELECT
  "s"."id" AS "id",
  CASE
    WHEN "s"."weight" >= "p"."t1_0_low_1"
    THEN CASE
      WHEN "s"."weight" < "p"."t1_0_low_2"
      THEN CASE
        WHEN "s"."weight" < "p"."t1_0_high_1"
        AND "p"."t1_0_name_1" + (
          (
            "s"."weight" - "p"."t1_0_low_1"
          ) / (
            "p"."t1_0_high_1" - "p"."t1_0_low_1"
          )
        ) <= "p"."t1_0_last_1"
        THEN "p"."t1_0_name_1" + (
          (
            "s"."weight" - "p"."t1_0_low_1"
          ) / (
            "p"."t1_0_high_1" - "p"."t1_0_low_1"
          )
        )
        WHEN "s"."weight" < "p"."t1_0_high_1"
        THEN "p"."t1_0_last_1"
        WHEN "s"."weight" = "p"."t1_0_high_1"
        THEN "p"."t1_0_name_1" + CAST('0.999' AS DOUBLE)
        WHEN "s"."weight" - "p"."t1_0_high_1" < "p"."t1_0_low_2" - "s"."weight"
        THEN "p"."t1_0_name_1" + CAST('0.999' AS DOUBLE)
        ELSE "p"."t1_0_name_2"
      END
      ELSE CASE
        WHEN "s"."weight" < "p"."t1_0_high_2"
        AND "p"."t1_0_name_2" + (
          (
            "s"."weight" - "p"."t1_0_low_2"
          ) / (
            "p"."t1_0_high_2" - "p"."t1_0_low_2"
          )
        ) <= "p"."t1_0_last_2"
        THEN "p"."t1_0_name_2" + (
          (
            "s"."weight" - "p"."t1_0_low_2"
          ) / (
            "p"."t1_0_high_2" - "p"."t1_0_low_2"
          )
        )
        WHEN "s"."weight" < "p"."t1_0_high_2"
        THEN "p"."t1_0_last_2"
        WHEN "s"."weight" = "p"."t1_0_high_2"
        THEN "p"."t1_0_name_2" + CAST('0.999' AS DOUBLE)
        WHEN "s"."weight" <= CAST('Infinity' AS DOUBLE)
        THEN "p"."t1_0_name_2" + CAST('0.999' AS DOUBLE)
      END
    END
    WHEN "s"."weight" < "p"."t1_0_low_1"
    THEN "p"."t1_0_name_1"
  END AS "weight"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
