CREATE RELEASE research.patients
FROM clinic.people (
    ward NEUTRAL,
    nope NEUTRAL
);
