CREATE RELEASE study.people FROM clinic.people (
    id KEY AS pseudonym(prefix => 'P-', length => 12)
)
WITH (execution = 'udf');
