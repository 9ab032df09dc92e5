SELECT 1;
SELECT	id,	nope	FROM clinic.people;
