SELECT 1;
SELECT $note$ a text $not$;
