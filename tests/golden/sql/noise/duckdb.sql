SELECT
  CASE
    WHEN "p"."t1_0_unit_0" > CAST('0.0' AS DOUBLE)
    THEN FLOOR("s"."ppdm_t1_0_0" * "p"."t1_0_unit_0" + CAST('0.5' AS DOUBLE)) / "p"."t1_0_unit_0"
    ELSE "s"."ppdm_t1_0_0"
  END AS "weight",
  CASE
    WHEN "s"."ppdm_t2_0_2"
    THEN CASE
      WHEN "p"."t2_0_unit_0" > CAST('0.0' AS DOUBLE)
      THEN FLOOR("s"."ppdm_t2_0_1" * "p"."t2_0_unit_0" + CAST('0.5' AS DOUBLE)) / "p"."t2_0_unit_0"
      ELSE "s"."ppdm_t2_0_1"
    END
    WHEN NOT "s"."ppdm_t2_0_2"
    THEN CASE
      WHEN "p"."t2_0_unit_0" > CAST('0.0' AS DOUBLE)
      THEN FLOOR("s"."ppdm_t2_0_3" * "p"."t2_0_unit_0" + CAST('0.5' AS DOUBLE)) / "p"."t2_0_unit_0"
      ELSE "s"."ppdm_t2_0_3"
    END
  END AS "income"
FROM (
  SELECT
    "s"."weight" AS "weight",
    "s"."income" AS "income",
    "s"."id" AS "id",
    CASE
      WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
      AND "s"."weight" < CAST('1e+300' AS DOUBLE)
      THEN "s"."weight"
    END + (
      "p"."t1_0_first_0" + ppdm_normal("p"."t1_0_key_high_0", "p"."t1_0_key_low_0", CAST("s"."id" AS BIGINT), "s"."weight") * "p"."t1_0_second_0"
    ) AS "ppdm_t1_0_0",
    CAST("s"."income" AS DOUBLE) + (
      "p"."t2_0_first_0" + ppdm_laplace(
        "p"."t2_0_key_high_0",
        "p"."t2_0_key_low_0",
        CAST("s"."id" AS BIGINT),
        TRY_CAST("s"."income" AS DOUBLE)
      ) * "p"."t2_0_second_0"
    ) AS "ppdm_t2_0_1",
    ppdm_selected("p"."t2_0_selection", CAST("s"."id" AS BIGINT), "p"."t2_0_rho") AS "ppdm_t2_0_2",
    CAST("s"."income" AS DOUBLE) AS "ppdm_t2_0_3"
  FROM "clinic"."people" AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
