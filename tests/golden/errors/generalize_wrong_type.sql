CREATE RELEASE research.groups
FROM clinic.people (
    id      KEY,
    age     QUASI,
    ward    QUASI,
    illness SENSITIVE
)
GENERALIZE ward USING tens UNTIL k = 2;
