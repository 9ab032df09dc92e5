-- The insurer knows what people cost.
CREATE RELEASE study.patients FROM 'people.parquet' (
    person KEY       AS pseudonym(),
    name   IDENTIFIER,
    claims SENSITIVE AS mapping()
) WITH (agreement = 'region');
