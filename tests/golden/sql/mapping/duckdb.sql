SELECT
  "s"."id" AS "id",
  "m0"."released" AS "illness",
  "m1"."released" AS "ward",
  "m2"."released" AS "income"
FROM "clinic"."people" AS "s"
LEFT JOIN "ppdm_owner"."r1_v1_t1_0_aliases" AS "m0"
  ON "s"."illness" COLLATE "C" = "m0"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t2_0_aliases" AS "m1"
  ON "s"."ward" COLLATE "C" = "m1"."original"
LEFT JOIN "ppdm_owner"."r1_v1_t3_0_aliases" AS "m2"
  ON CAST("s"."income" AS TEXT) = "m2"."original"
