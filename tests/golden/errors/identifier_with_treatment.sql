CREATE RELEASE research.patients
FROM clinic.people (
    id      KEY AS pseudonym(),
    name    IDENTIFIER AS mapping(prefix => 'Person'),
    ward    NEUTRAL
);
