CREATE RELEASE research.groups
FROM clinic.people (
    id      KEY,
    age     QUASI,
    ward    QUASI,
    illness SENSITIVE
)
GENERALIZE age, ward WHEN age > 'many'
    UNTIL k = 2;
