SELECT
  "m0"."released" || ' ' || "m1"."released" || ' ' || "m2"."released" || '-' || "m3"."released" AS "contact"
FROM (
  SELECT
    "s"."contact" AS "contact",
    SHA256("p"."t1_0_key" || ':p:' || CAST("s"."contact" AS TEXT)) AS "ppdm_t1_0_0"
  FROM "clinic"."contacts" AS "s"
  CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
) AS "s"
CROSS JOIN "ppdm_owner"."r1_v1_parameters" AS "p"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_first" AS "m0"
  ON (
    CAST('0x' || SUBSTRING("s"."ppdm_t1_0_0", 1, 13) AS BIGINT)
  ) % "p"."t1_0_count_first" = "m0"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_first" AS "m1"
  ON (
    CAST('0x' || SUBSTRING("s"."ppdm_t1_0_0", 14, 13) AS BIGINT)
  ) % "p"."t1_0_count_first" = "m1"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_last" AS "m2"
  ON (
    CAST('0x' || SUBSTRING("s"."ppdm_t1_0_0", 27, 13) AS BIGINT)
  ) % "p"."t1_0_count_last" = "m2"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_last" AS "m3"
  ON (
    CAST('0x' || SUBSTRING("s"."ppdm_t1_0_0", 40, 13) AS BIGINT)
  ) % "p"."t1_0_count_last" = "m3"."original"
