SELECT
  "c"."r0" AS "age",
  "c"."r1" AS "ward",
  "s"."illness" AS "illness"
FROM (
  SELECT
    "s"."age" AS "age",
    "s"."ward" AS "ward",
    "s"."illness" AS "illness"
  FROM "clinic"."people" AS "s"
) AS "s"
JOIN "ppdm_owner"."r1_v1_g_combinations" AS "c"
  ON "s"."age" IS NOT DISTINCT FROM "c"."k0"
  AND "s"."ward" COLLATE "C" IS NOT DISTINCT FROM "c"."k1" COLLATE "C"
WHERE
  NOT "c"."is_suppressed"
