-- Two tables about the same people: `entity` makes their pseudonyms meet, so analysts can join.
-- Needs: demo/patients.sql. `ppdm demo --db owner/clinic.duckdb` makes its table.

CREATE TABLE clinic.visits AS
SELECT patient_id AS patient, DATE '2025-01-01' + (hash(patient_id) % 365)::INTEGER AS day, stay_days * 410.0 AS cost
FROM clinic.patients;

CREATE RELEASE study.people FROM clinic.patients (
    patient_id KEY       AS pseudonym(entity => 'patient'),
    diagnosis  SENSITIVE AS mapping(prefix => 'Illness')
);

CREATE RELEASE study.visits FROM (SELECT patient, cost, month(day) AS month FROM clinic.visits) (
    patient QUASI     AS pseudonym(entity => 'patient'),
    month   QUASI,
    cost    SENSITIVE AS graded_grouping(bands => 10)
);

SELECT p.diagnosis, count(*) AS visits, round(avg(v.cost), 3) AS mean_graded_cost
FROM study.people AS p JOIN study.visits AS v ON v.patient = p.patient_id
GROUP BY p.diagnosis
ORDER BY visits DESC;
