-- Many lines before, so that the place is found from a long text and not only from a short one.
SELECT 'this line and the next are longer than a hundred characters' AS first_statement, 1 AS one;
SELECT 'this line and the one before are longer than a hundred characters' AS second_statement;

CREATE RELEASE research.patients
FROM (
    SELECT id, age, ward
    FROM clinic.people
    WHERE age > 18 AND AND ward = 'A'
) (
    id   KEY AS pseudonym(),
    age  QUASI,
    ward NEUTRAL
);
