CREATE RELEASE research.people FROM clinic.people (id KEY, income SENSITIVE AS bit_plus());
