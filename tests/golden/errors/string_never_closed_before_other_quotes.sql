CREATE RELEASE research.patients
FROM clinic.people (
    illness SENSITIVE AS mapping(prefix => 'Illness),
    "ward"  NEUTRAL
);
