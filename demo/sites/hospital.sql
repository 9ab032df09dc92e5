-- Each of three hospitals: its own patients, all the columns a hospital has.
IMPORT AGREEMENT FROM '../region.agreement';

CREATE RELEASE study.patients FROM 'people.parquet' (
    person  KEY       AS pseudonym(),
    name    IDENTIFIER,
    age     QUASI     AS graded_grouping(bands => [18, 36, 54, 72, 90]),
    sex     QUASI,
    smokes  QUASI     AS mapping(domain => ['no', 'yes']),
    weight  SENSITIVE AS scaling(),
    illness SENSITIVE AS mapping(prefix => 'Illness', domain => [
        'Asthma', 'Diabetes', 'Flu', 'HIV', 'Hypertension', 'Stomach Cancer'
    ])
) WITH (agreement = 'region');
