-- The insurer knows what people cost.
IMPORT AGREEMENT FROM '../region.agreement';

CREATE RELEASE study.patients FROM 'people.parquet' (
    person KEY       AS pseudonym(),
    name   IDENTIFIER,
    claims SENSITIVE AS mapping()
) WITH (agreement = 'region', site = 'insurer');
