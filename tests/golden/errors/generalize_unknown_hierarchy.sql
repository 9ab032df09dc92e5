CREATE RELEASE research.groups
FROM clinic.people (
    id      KEY,
    age     QUASI,
    ward    QUASI,
    illness SENSITIVE
)
GENERALIZE age USING ten UNTIL k = 2;
