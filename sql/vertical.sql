-- Sites with different columns of the same people: each releases its own, under one agreement, so
-- that only the key is the same everywhere, and what only one site has is private to it. The vertical case of document 001. Here both sites are
-- schemas of one database; `make demo-sites` has them apart, with files, and a miner who joins them.
CREATE SCHEMA hospital;
CREATE SCHEMA insurer;
CREATE TABLE hospital.people (person INTEGER, age INTEGER, illness VARCHAR);
INSERT INTO hospital.people VALUES
    (1, 30, 'Gastritis'), (2, 40, 'Stomach cancer'), (3, 70, 'Flu'), (4, 25, 'Flu'), (5, 15, 'Gastritis');
CREATE TABLE insurer.people (person INTEGER, income INTEGER);
INSERT INTO insurer.people VALUES (1, 1200), (2, 5400), (3, 3100), (5, 900);

CREATE AGREEMENT region (
    person  KEY       AS pseudonym(),
    age     QUASI     AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    illness SENSITIVE AS mapping(domain => ['Flu', 'Gastritis', 'Stomach cancer']),
    income  SENSITIVE PRIVATE TO insurer
);
CREATE RELEASE hospital_part FROM hospital.people (
    person  KEY       AS pseudonym(),
    age     QUASI     AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    illness SENSITIVE AS mapping(domain => ['Flu', 'Gastritis', 'Stomach cancer'])
) WITH (agreement = 'region');
CREATE RELEASE insurer_part FROM insurer.people (
    person KEY AS pseudonym(), income SENSITIVE AS scaling()
) WITH (agreement = 'region', site = 'insurer');

-- What a miner joins, on pseudonyms: who is missing at a site has NULL, as `ppdm combine --join` fills.
SELECT h.illness, round(h.age, 3) AS age, i.income IS NOT NULL AS insured
FROM hospital_part AS h LEFT JOIN insurer_part AS i USING (person) ORDER BY ALL;
