CREATE RELEASE research.patients
FROM clinic.people (
    id      KEY,
    name    IDENTIFIER
);
