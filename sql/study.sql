-- Patients, their visits and their laboratory values: one study, in which pseudonyms of a person are the
-- same in every table, dates of a person move together, and whoever one table leaves out is in none.
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients AS
SELECT i AS patient, DATE '1940-01-01' + (hash(i) % 25000)::INTEGER AS born, ['F', 'M'][1 + i % 2] AS sex
FROM range(400) AS r (i);
CREATE TABLE clinic.visits AS
SELECT 5000 + i AS visit, (hash(i * 7) % 400)::BIGINT AS patient,
    TIMESTAMP '2024-01-01' + INTERVAL (hash(i * 11) % 8000) HOUR AS admitted, ['A', 'B'][1 + i % 2] AS ward
FROM range(700) AS r (i);
CREATE TABLE clinic.labs AS
SELECT visit, admitted + INTERVAL 3 HOUR AS taken, hash(visit) % 9 AS result FROM clinic.visits;

CREATE RELEASE research.patients FROM clinic.patients (
    patient KEY OF patient AS pseudonym(),
    born    QUASI AS age_at('2026-01-01') THEN round(to => 20),
    sex     QUASI
);
CREATE RELEASE research.visits FROM clinic.visits (
    visit    NEUTRAL AS pseudonym(),
    patient  KEY OF patient REFERENCES clinic.patients (patient) AS pseudonym(),
    admitted NEUTRAL AS date_shift(days => 180, unit => 'week'),
    ward     QUASI
);
CREATE RELEASE research.labs FROM clinic.labs (      -- its patient is found through the visit
    visit  KEY REFERENCES clinic.visits (visit) AS pseudonym(),
    taken  NEUTRAL AS date_shift(days => 180, unit => 'week'),
    result NEUTRAL
);
CREATE STUDY hospital
    OF research.patients, research.visits AT MOST 3 ROWS PER patient, research.labs
    PERSON patient UNTIL k = 3 ACROSS research.patients, research.visits SUPPRESS AT MOST 20 PERCENT;
DESCRIBE STUDY hospital;
-- PUBLISH STUDY hospital TO 'hospital.duckdb' WITH (recipient = 'uni-north');
-- AUDIT STUDY hospital TO 'report.html';

SELECT p.sex, count(*) AS labs, avg(l.taken - v.admitted) AS waiting
FROM research.patients AS p JOIN research.visits AS v USING (patient) JOIN research.labs AS l USING (visit)
GROUP BY ALL ORDER BY ALL;
