SELECT
  ppdm_ip("p"."t1_0_v4", "p"."t1_0_v6", CAST("s"."contact" AS TEXT)) AS "contact"
FROM "clinic"."contacts" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
