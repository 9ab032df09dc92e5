-- The pharmacy writes the numbers of people in another way, and has some of them only.
IMPORT AGREEMENT FROM '../region.agreement';

CREATE OR REPLACE TABLE people AS FROM 'people.parquet';

CREATE RELEASE study.patients FROM (
    SELECT upper(replace(person, ' ', '')) AS person, drug, dose FROM people
) (
    person KEY       AS pseudonym(),
    drug   SENSITIVE AS mapping(),
    dose   SENSITIVE AS translation()
) WITH (agreement = 'region', site = 'pharmacy');
