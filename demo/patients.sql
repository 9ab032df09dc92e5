-- A clinic's table of generated people. Every run gives the same ones: nothing here is random,
-- the numbers come from hashes of the row number. `ppdm demo` runs it, and says how many patients:
-- `ppdm demo --db owner/clinic.duckdb --patients 500`.
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients AS
WITH
    draws AS (
        SELECT
            i,
            hash(i, 'age') % 10_000 / 10_000.0 AS a,
            hash(i, 'age, too') % 10_000 / 10_000.0 AS b,
            hash(i, 'noise') % 10_000 / 10_000.0 - 0.5 AS c,
            hash(i, 'illness') % 1_000 AS d
        FROM range($patients) AS numbers (i)
    ),
    people AS (
        SELECT *, 18 + floor(36 * (a + b))::INTEGER AS age FROM draws
    )
SELECT
    100_000_000 + (i * 611_953 + 71_993) % 899_999_963 AS patient_id,
    ['Ada', 'Boris', 'Chen', 'Dalia', 'Emeka', 'Farah', 'Goran', 'Hana', 'Iris', 'Jonas'][1 + (hash(i, 'first') % 10)::INTEGER]
        || ' ' || ['Abe', 'Brandt', 'Costa', 'Diallo', 'Eriksen', 'Fontaine', 'Gupta', 'Horvat'][1 + (hash(i, 'last') % 8)::INTEGER] AS name,
    lpad((42000 + hash(i, 'zip') % 60)::VARCHAR, 5, '0') AS zip,
    age,
    ['F', 'M'][1 + (hash(i, 'sex') % 2)::INTEGER] AS sex,
    round(44 + 18 * b + 0.45 * age + 30 * c, 1) AS weight,
    CASE
        WHEN d < 420 THEN 'Flu'
        WHEN d < 640 THEN 'Hypertension'
        WHEN d < 800 THEN 'Diabetes'
        WHEN d < 900 THEN 'Asthma'
        WHEN d < 960 THEN 'Cancer'
        ELSE 'HIV'
    END AS diagnosis,
    round(900 + 55 * age + 2400 * a + 1800 * c, 2)::DECIMAL(10, 2) AS income,
    (1 + hash(i, 'stay') % 9 + CASE WHEN d >= 800 THEN 6 ELSE 0 END)::INTEGER AS stay_days
FROM people;
