CREATE RELEASE research.patients
FROM (SELECT id, age AS years FROM clinic.people) (
    id      KEY AS pseudonym(),
    age     QUASI
);
