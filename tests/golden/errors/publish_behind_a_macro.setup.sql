CREATE RELEASE research.people FROM clinic.people (id KEY AS pseudonym(), ward NEUTRAL);
CREATE TEMP MACRO sha256(x) AS x;