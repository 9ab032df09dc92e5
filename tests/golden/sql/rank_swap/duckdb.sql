SELECT
  CAST("m0"."released" AS DECIMAL(10, 2)) AS "income"
FROM "clinic"."people" AS "s"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_rows" AS "m0"
  ON CAST("s"."id" AS BIGINT) = "m0"."row"
  AND CAST("s"."income" AS TEXT) = "m0"."original"
