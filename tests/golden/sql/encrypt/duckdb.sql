SELECT
  ppdm_encrypt(
    "p"."t1_0_key",
    "p"."t1_0_alphabet",
    "p"."t1_0_keep_prefix",
    "p"."t1_0_keep_suffix",
    CAST("s"."contact" AS TEXT)
  ) AS "contact"
FROM "clinic"."contacts" AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
