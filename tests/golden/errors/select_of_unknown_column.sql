CREATE RELEASE research.patients
FROM (
    SELECT ward, hight
    FROM clinic.people
) (
    ward NEUTRAL
);
