SELECT
  CASE WHEN NOT "s"."ppdm_t0_0_0" IS NULL THEN "m0"."released" END AS "weight",
  CASE
    WHEN NOT "s"."ppdm_t1_0_1" IS NULL AND NOT "s"."ppdm_t1_0_2" IS NULL
    THEN CASE
      WHEN "m1"."released_0" IS NULL
      THEN "m2"."released_0"
      ELSE "m1"."released_0"
    END
  END AS "age",
  CASE
    WHEN NOT "s"."ppdm_t1_0_1" IS NULL AND NOT "s"."ppdm_t1_0_2" IS NULL
    THEN CASE
      WHEN "m1"."released_1" IS NULL
      THEN "m2"."released_1"
      ELSE "m1"."released_1"
    END
  END AS "income"
FROM (
  SELECT
    "s"."weight" AS "weight",
    "s"."age" AS "age",
    "s"."income" AS "income",
    CASE
      WHEN "s"."weight" > CAST('-1e+300' AS DOUBLE)
      AND "s"."weight" < CAST('1e+300' AS DOUBLE)
      THEN "s"."weight"
    END AS "ppdm_t0_0_0",
    CAST("s"."age" AS DOUBLE) AS "ppdm_t1_0_1",
    CAST("s"."income" AS DOUBLE) AS "ppdm_t1_0_2"
  FROM "clinic"."people" AS "s"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
ASOF LEFT JOIN "ppdm_owner"."r1_v1_t0_0_ranges" AS "m0"
  ON "s"."ppdm_t0_0_0" >= "m0"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_rows" AS "m1"
  ON "s"."ppdm_t1_0_1" = "m1"."original_0" AND "s"."ppdm_t1_0_2" = "m1"."original_1"
LEFT JOIN LATERAL (
  SELECT
    *
  FROM "ppdm_owner"."r1_v1_t1_0_groups" AS "m2_of"
  WHERE
    "m1"."released_0" IS NULL
    AND NOT "s"."ppdm_t1_0_1" IS NULL
    AND NOT "s"."ppdm_t1_0_2" IS NULL
  ORDER BY
    (
      (
        "s"."ppdm_t1_0_1" - "m2_of"."released_0"
      ) / "p"."t1_0_spread_0"
    ) * (
      (
        "s"."ppdm_t1_0_1" - "m2_of"."released_0"
      ) / "p"."t1_0_spread_0"
    ) + (
      (
        "s"."ppdm_t1_0_2" - "m2_of"."released_1"
      ) / "p"."t1_0_spread_1"
    ) * (
      (
        "s"."ppdm_t1_0_2" - "m2_of"."released_1"
      ) / "p"."t1_0_spread_1"
    ),
    "m2_of"."number"
  LIMIT 1
) AS "m2"
  ON TRUE
