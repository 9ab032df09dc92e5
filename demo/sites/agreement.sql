-- What the sites of the region agree on. The first of them runs this; the others import the file.
CREATE AGREEMENT region (
    person  KEY       AS pseudonym(),
    age     QUASI     AS graded_grouping(bands => [18, 36, 54, 72, 90]),
    sex     QUASI,
    smokes  QUASI     AS mapping(domain => ['no', 'yes']),
    weight  SENSITIVE AS scaling(),
    illness SENSITIVE AS mapping(prefix => 'Illness', domain => [
        'Asthma', 'Diabetes', 'Flu', 'HIV', 'Hypertension', 'Stomach Cancer'
    ]),
    -- Only one site has these: how it treats them stays there.
    drug    SENSITIVE PRIVATE TO pharmacy,
    dose    SENSITIVE PRIVATE TO pharmacy,
    claims  SENSITIVE PRIVATE TO insurer
);
EXPORT AGREEMENT region TO '../region.agreement';
