CREATE RELEASE research.people FROM clinic.people (id KEY, age QUASI, ward QUASI, illness SENSITIVE)
GENERALIZE age, ward WHEN illness IN ('HIV', 'Cancer') UNTIL k = 2 WITH (suppressed = 'star');
