SELECT
  "p"."t0_0_prefix" || SUBSTRING(SHA256("p"."t0_0_key" || ':p:' || CAST("s"."id" AS TEXT)), 1, 12) AS "id",
  SUBSTRING(SHA256("p"."t1_0_key" || ':p:' || CAST("s"."name" AS TEXT)), 1, 16) AS "name"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
