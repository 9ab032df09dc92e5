-- A hospital's release: one line for each column, its role and its treatment.
-- Needs: demo/patients.sql. `ppdm demo --db owner/clinic.duckdb` makes its table, and a release of
-- this name, which is made anew here. Copy it, change the names, keep the roles honest.

CREATE OR REPLACE RELEASE research.patients
FROM clinic.patients (
    patient_id  KEY         AS pseudonym(prefix => 'P-'),  -- analysts can count and join people
    name        IDENTIFIER,                                -- never leaves
    zip         QUASI       AS suppress(),
    age         QUASI       AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    sex         QUASI,
    weight      SENSITIVE   AS graded_grouping(bands => 6),
    diagnosis   SENSITIVE   AS mapping(prefix => 'Illness'),
    income      SENSITIVE   AS graded_grouping(bands => [[0, 3000], [3000.01, 6000], [6000.01, 12000]]),
    stay_days   NEUTRAL
);

-- What analysts may ask: any SQL.
SELECT diagnosis, count(*) AS patients, avg(stay_days) AS mean_stay
FROM research.patients
GROUP BY diagnosis
ORDER BY patients DESC;
