SELECT
  "s"."id" AS "id",
  ppdm_graded_grouping(
    CAST("s"."income" AS DOUBLE),
    ["p"."t1_0_low_1", "p"."t1_0_low_2", "p"."t1_0_low_3", "p"."t1_0_high_3"]
  ) AS "income"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
