CREATE RELEASE research.patients
FROM (SELECT ward FROM clinic.people (
    ward NEUTRAL
);
