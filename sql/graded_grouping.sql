-- Graded grouping and mapping: a number becomes its band and its place inside it, a category an alias.
-- The method of document 000 (privacy-preserving mining of partitioned data), its table 3: five bands
-- of 15 years.
CREATE TABLE table_3 (patient INTEGER, age INTEGER, disease VARCHAR);
INSERT INTO table_3 VALUES
    (1, 30, 'Gastritis'), (2, 40, 'Stomach cancer'), (3, 70, 'Flu'), (4, 25, 'Flu'), (5, 15, 'Gastritis'),
    (6, 58, 'Bronchitis'), (7, 73, 'Flu'), (8, 37, 'Stomach cancer'), (9, 90, 'Bronchitis');

CREATE RELEASE graded FROM table_3 (
    patient KEY,
    age     QUASI     AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    disease SENSITIVE AS mapping(prefix => 'Disease')
);

-- 2, 2.667, 4.667, 1.667, 1, 3.867, 4.867, 2.467, 5.999
SELECT round(age, 3) AS age, disease FROM graded;
