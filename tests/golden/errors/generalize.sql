CREATE RELEASE research.patients
FROM clinic.people (
    age     QUASI,
    illness SENSITIVE
)
GENERALIZE age USING decades
    UNTIL k = 2
WITH (execution = 'native');
