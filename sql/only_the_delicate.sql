-- SCBA, sensitivity-class-based anonymity: only the rows of the high class, HIV and Cancer, are
-- generalized, until they are 2-anonymous among themselves. The other four are released unchanged.
-- The method of document 002, its tables I and VI.
CREATE SCHEMA hospital;
CREATE TABLE hospital.table_1 (id INTEGER, zip VARCHAR, age INTEGER, sex VARCHAR, diagnosis VARCHAR);
INSERT INTO hospital.table_1 VALUES
    (1, '423065', 29, 'M', 'Heart Disease'), (2, '422036', 32, 'F', 'Flu'),
    (3, '423245', 38, 'M', 'Headache'),      (4, '422035', 27, 'F', 'HIV'),
    (5, '423012', 47, 'M', 'Cancer'),        (6, '423432', 53, 'F', 'Viral');

CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY from_25 AS RANGES (25, 50) FROM 25;

CREATE RELEASE table_6 FROM hospital.table_1 (
    id KEY, zip QUASI, age QUASI, sex QUASI, diagnosis SENSITIVE
)
GENERALIZE zip USING zip_digits, age USING from_25, sex
    WHEN diagnosis IN ('HIV', 'Cancer')
    UNTIL k = 2;

-- Every node of the lattice that would do, while none below it would.
EXPLAIN HIERARCHIES FOR RELEASE table_6;

-- 42****, [25, 50), * for the two; what the document prints as >25 is here the range.
FROM table_6 ORDER BY zip;
