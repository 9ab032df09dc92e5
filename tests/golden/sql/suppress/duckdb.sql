SELECT
  CAST(NULL AS TEXT) AS "name",
  CASE WHEN FALSE THEN "s"."age" END AS "age",
  CASE WHEN FALSE THEN "s"."income" END AS "income"
FROM "clinic"."people" AS "s"
