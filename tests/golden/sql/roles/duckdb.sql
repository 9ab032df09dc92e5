SELECT
  "s"."age" AS "age",
  "s"."illness" AS "illness",
  "s"."ward" AS "ward"
FROM "clinic"."people" AS "s"
