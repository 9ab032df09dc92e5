CREATE RELEASE research.patients
FROM clinic.people (
    ward    NEUTRAL
WITH (execution = 'udf');
