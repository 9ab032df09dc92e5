SELECT
  "p"."t0_0_prefix" || SUBSTRING(ppdm_pseudonym("p"."t0_0_key", CAST("s"."id" AS TEXT)), 1, 12) AS "id"
FROM "clinic"."people" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
