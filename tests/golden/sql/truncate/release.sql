CREATE RELEASE research.people
FROM (SELECT "id", CAST(epoch_ms("id") AS DATE) AS "seen", epoch_ms("id") AS "came" FROM "clinic"."people") (
    seen QUASI AS truncate('month'), came NEUTRAL AS truncate('hour')
);
