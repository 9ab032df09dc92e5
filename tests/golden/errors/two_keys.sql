CREATE RELEASE research.patients
FROM clinic.people (
    id      KEY AS pseudonym(),
    name    KEY,
    ward    NEUTRAL
);
