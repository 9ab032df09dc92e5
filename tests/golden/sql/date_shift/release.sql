CREATE RELEASE research.people
FROM (SELECT "id", CAST(epoch_ms("id") AS DATE) AS "seen", epoch_ms("id") AS "came" FROM "clinic"."people") (
    id KEY OF patient AS pseudonym(),
    (seen, came) NEUTRAL AS date_shift(days => 21, unit => 'week')
);
