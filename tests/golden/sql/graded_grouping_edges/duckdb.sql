SELECT
  "s"."id" AS "id",
  CASE
    WHEN "s"."weight" >= "p"."t1_0_low_1"
    THEN CASE
      WHEN "s"."weight" < "p"."t1_0_low_2"
      THEN "p"."t1_0_name_1" + (
        (
          "s"."weight" - "p"."t1_0_low_1"
        ) / (
          "p"."t1_0_high_1" - "p"."t1_0_low_1"
        )
      )
      ELSE CASE
        WHEN "s"."weight" < "p"."t1_0_low_3"
        THEN "p"."t1_0_name_2" + (
          (
            "s"."weight" - "p"."t1_0_low_2"
          ) / (
            "p"."t1_0_high_2" - "p"."t1_0_low_2"
          )
        )
        ELSE CASE
          WHEN "s"."weight" < "p"."t1_0_high_3"
          AND "p"."t1_0_name_3" + (
            (
              "s"."weight" - "p"."t1_0_low_3"
            ) / (
              "p"."t1_0_high_3" - "p"."t1_0_low_3"
            )
          ) <= "p"."t1_0_last_3"
          THEN "p"."t1_0_name_3" + (
            (
              "s"."weight" - "p"."t1_0_low_3"
            ) / (
              "p"."t1_0_high_3" - "p"."t1_0_low_3"
            )
          )
          WHEN "s"."weight" < "p"."t1_0_high_3"
          THEN "p"."t1_0_last_3"
          WHEN "s"."weight" = "p"."t1_0_high_3"
          THEN "p"."t1_0_name_3" + CAST('0.999' AS DOUBLE)
        END
      END
    END
  END AS "weight"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
