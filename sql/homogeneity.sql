-- Why k is not enough: three people who share everything share the illness, too, and whoever finds
-- the class knows it. l-diversity asks for different values in every class. Figure 1 of document 002:
-- "Sangita is suffering from Heart Disease".
CREATE TABLE patients (id INTEGER, zip VARCHAR, age INTEGER, disease VARCHAR);
INSERT INTO patients VALUES
    (1, '27678', 34, 'Heart Disease'), (2, '27602', 32, 'Heart Disease'), (3, '27690', 38, 'Heart Disease'),
    (4, '34501', 22, 'Flu'),           (5, '34512', 27, 'Cancer'),        (6, '34533', 25, 'Cancer');

CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY decades AS RANGES (10, 20, 40);
CREATE RELEASE three_anonymous FROM patients (id KEY, zip QUASI, age QUASI, disease SENSITIVE)
GENERALIZE zip USING zip_digits, age USING decades UNTIL k = 3;

CREATE RELEASE diverse FROM patients (id KEY, zip QUASI, age QUASI, disease SENSITIVE)
GENERALIZE zip USING zip_digits, age USING decades UNTIL k = 3, l(disease) = 2;

-- One disease in a class of the first, two or more in each of the second.
SELECT 'k alone' AS targets, zip, age, count(*) AS people, count(DISTINCT disease) AS diseases
FROM three_anonymous GROUP BY ALL
UNION ALL
SELECT 'k and l', zip, age, count(*), count(DISTINCT disease) FROM diverse GROUP BY ALL
ORDER BY ALL;
