CREATE TABLE clinic.wards AS SELECT 'A' AS letter;
CREATE RELEASE research.people FROM clinic.people (id KEY, age QUASI, illness SENSITIVE AS mapping());
