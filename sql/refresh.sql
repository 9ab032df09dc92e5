-- A new illness appears: until the owner refreshes, analysts see NULL, never the raw value.
-- Needs: sql/clinic.sql.

INSERT INTO clinic.patients
SELECT 7, 'Kim Okafor', '42001', 33, 'F', 60.0, 'Measles', 3200.00, 4;

SELECT count(*) AS waiting FROM research.patients WHERE diagnosis IS NULL;

REFRESH RELEASE research.patients;      -- the next version: old aliases kept, the new category numbered

SELECT count(*) AS waiting FROM research.patients WHERE diagnosis IS NULL;
