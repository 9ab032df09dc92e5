CREATE RELEASE research.people FROM clinic.people (id KEY, age SENSITIVE AS bit_minus());
