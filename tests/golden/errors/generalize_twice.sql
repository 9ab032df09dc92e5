CREATE RELEASE research.groups
FROM clinic.people (
    id      KEY,
    age     QUASI,
    ward    QUASI,
    illness SENSITIVE
)
GENERALIZE age USING tens, age UNTIL k = 2;
