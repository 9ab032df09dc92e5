CREATE RELEASE research.people
FROM (SELECT "id", CAST(epoch_ms("id") AS DATE) AS "born" FROM "clinic"."people") (
    born QUASI AS age_at('2026-07-31')
);
