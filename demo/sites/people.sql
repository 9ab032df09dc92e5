-- The people of a region, whom no single site knows all of. Every run gives the same ones: the
-- numbers come from hashes of the row number.
CREATE TABLE people AS
WITH
    draws AS (
        SELECT
            i,
            hash(i, 'age') % 10_000 / 10_000.0 AS a,
            hash(i, 'ill') % 100 AS d,
            hash(i, 'drug') % 100 AS e
        FROM range($people) AS numbers (i)
    ),
    persons AS (
        SELECT
            *,
            18 + floor(72 * a)::INTEGER AS age,
            ['F', 'M'][1 + (hash(i, 'sex') % 2)::INTEGER] AS sex,
            ['no', 'yes'][1 + (hash(i, 'smokes') % 10 < 3)::INTEGER] AS smokes
        FROM draws
    ),
    patients AS (
        SELECT
            *,
            CASE
                WHEN smokes = 'yes' AND d < 45 THEN 'Asthma'
                WHEN age >= 62 AND d < 70 THEN 'Hypertension'
                WHEN age < 34 AND d < 75 THEN 'Flu'
                WHEN sex = 'F' AND d < 60 THEN 'Stomach Cancer'
                WHEN d < 80 THEN 'Diabetes'
                ELSE 'HIV'
            END AS illness
        FROM persons
    )
SELECT
    'nhs ' || 100_000 + (i * 7919 + 13) % 899_981 AS person,
    ['Ada', 'Boris', 'Chen', 'Dalia', 'Emeka', 'Farah'][1 + (hash(i, 'name') % 6)::INTEGER] AS name,
    age, sex, smokes, illness,
    round(48 + 0.35 * age + 20 * (hash(i, 'weight') % 1000 / 1000.0), 1) AS weight,
    CASE
        WHEN e < 12 THEN 'Paracetamol'
        WHEN illness = 'Asthma' THEN 'Salbutamol'
        WHEN illness = 'Hypertension' THEN 'Ramipril'
        WHEN illness = 'Diabetes' THEN 'Metformin'
        WHEN illness = 'Flu' THEN 'Paracetamol'
        ELSE 'Morphine'
    END AS drug,
    (5 * (1 + hash(i, 'dose') % 8 + age // 20))::INTEGER AS dose,
    CASE WHEN illness IN ('HIV', 'Stomach Cancer') OR e > 90 THEN 'high' ELSE 'low' END AS claims
FROM patients;
