-- Why names are not enough: a table without names, linked with a list that has them, and what
-- GENERALIZE does about it. Tables I and II of document 002: "Arjun is suffering from cancer".
CREATE TABLE medical (id INTEGER, zip VARCHAR, age INTEGER, sex VARCHAR, diagnosis VARCHAR);
INSERT INTO medical VALUES
    (1, '423065', 29, 'M', 'Heart Disease'), (2, '422036', 32, 'F', 'Flu'),
    (3, '423245', 38, 'M', 'Headache'),      (4, '422035', 27, 'F', 'HIV'),
    (5, '423012', 47, 'M', 'Cancer'),        (6, '423432', 53, 'F', 'Viral');
CREATE TABLE voters (name VARCHAR, zip VARCHAR, age INTEGER, sex VARCHAR);
INSERT INTO voters VALUES
    ('Mohit', '423065', 29, 'M'), ('Sunil', '422036', 32, 'F'), ('Shyam', '423245', 38, 'M'),
    ('Rohini', '422035', 27, 'F'), ('Arjun', '423012', 47, 'M'), ('Sangita', '423432', 53, 'F');

CREATE RELEASE bare FROM medical (id KEY, zip QUASI, age QUASI, sex QUASI, diagnosis SENSITIVE);

CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY ages AS RANGES (10, 20, 40);
CREATE RELEASE grouped FROM medical (id KEY, zip QUASI, age QUASI, sex QUASI, diagnosis SENSITIVE)
GENERALIZE zip USING zip_digits, age USING ages, sex
    UNTIL k = 3;

-- The voters' list finds all six in the first.
SELECT v.name, m.diagnosis FROM voters AS v JOIN bare AS m USING (zip, age, sex) ORDER BY v.name;

-- In the second, everybody is one of three.
SELECT zip, age, sex, count(*) AS people, list(diagnosis ORDER BY diagnosis) AS diagnoses
FROM grouped GROUP BY ALL ORDER BY ALL;
