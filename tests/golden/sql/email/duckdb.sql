SELECT
  SUBSTRING(
    SHA256(
      "p"."t1_0_key" || ':p:' || CAST(LOWER(TRIM(CAST("s"."contact" AS TEXT))) AS TEXT)
    ),
    1,
    16
  ) || '@' || COALESCE("m0"."released", '*') AS "contact"
FROM "clinic"."contacts" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_domains" AS "m0"
  ON SPLIT_PART(LOWER(TRIM(CAST("s"."contact" AS TEXT))), '@', -1) = "m0"."original"
