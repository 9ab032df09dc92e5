SELECT
  CAST("m0"."released" AS TEXT) AS "illness",
  CAST("m1"."released" AS INT) AS "age"
FROM "clinic"."people" AS "s"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_rows" AS "m0"
  ON CAST("s"."id" AS BIGINT) = "m0"."row"
  AND CAST("s"."illness" AS TEXT) = "m0"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t2_0_rows" AS "m1"
  ON CAST("s"."id" AS BIGINT) = "m1"."row"
  AND CAST("s"."age" AS TEXT) = "m1"."original"
