SELECT
  "s"."age" AS "age",
  "s"."ward" AS "ward"
FROM "clinic"."people" AS "s"
