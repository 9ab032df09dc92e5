CREATE RELEASE research.patients
FROM clinic.people (
    id   KEY AS pseudonym(),
    (name,
     ward) KEY
);
