CREATE RELEASE study.people FROM clinic.people (
    id   KEY   AS pseudonym(prefix => 'P-', length => 12),
    name QUASI AS pseudonym(entity => 'person')
);
