SELECT
  CASE WHEN "s"."ppdm_high" THEN "c"."r0" ELSE CAST("s"."age" AS TEXT) END AS "age",
  CASE WHEN "s"."ppdm_high" THEN "c"."r1" ELSE CAST("s"."ward" AS TEXT) END AS "ward",
  CASE
    WHEN "s"."ppdm_high"
    THEN CASE WHEN "c"."is_suppressed" THEN NULL ELSE "s"."illness" END
    ELSE "s"."illness"
  END AS "illness"
FROM (
  SELECT
    "s"."age" AS "age",
    "s"."ward" AS "ward",
    "s"."illness" AS "illness",
    CASE
      WHEN NOT (
        CAST("s"."illness" AS TEXT) COLLATE "C" IN ("p"."g_w0", "p"."g_w1")
      )
      THEN FALSE
      ELSE TRUE
    END AS "ppdm_high"
  FROM "clinic"."people" AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
) AS "s"
LEFT JOIN "ppdm_owner"."r1_v1_g_combinations" AS "c"
  ON "s"."age" IS NOT DISTINCT FROM "c"."k0"
  AND "s"."ward" COLLATE "C" IS NOT DISTINCT FROM "c"."k1" COLLATE "C"
WHERE
  NOT "s"."ppdm_high" OR NOT "c"."is_suppressed" IS NULL
