CREATE RELEASE study.people FROM (
    SELECT "p"."id", upper("p"."ward") AS "ward", "p"."age" + 1 AS "age"
    FROM "clinic"."people" AS "p"
    WHERE "p"."age" IS NOT NULL
) (
    id   KEY   AS pseudonym(),
    ward QUASI AS mapping(),
    age  QUASI AS graded_grouping(bands => [0, 50, 100])
);
