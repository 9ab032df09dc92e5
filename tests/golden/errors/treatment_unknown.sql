CREATE RELEASE research.patients
FROM clinic.people (
    id      KEY AS pseudonymize(),
    ward    NEUTRAL
);
