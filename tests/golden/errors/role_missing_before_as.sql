CREATE RELEASE research.patients
FROM clinic.people (
    id      AS pseudonym(),
    ward    NEUTRAL
);
