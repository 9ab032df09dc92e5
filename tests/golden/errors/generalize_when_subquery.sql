CREATE RELEASE research.groups
FROM clinic.people (
    id      KEY,
    age     QUASI,
    ward    QUASI,
    illness SENSITIVE
)
GENERALIZE age WHEN illness IN (SELECT 'HIV')
    UNTIL k = 2;
