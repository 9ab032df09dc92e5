CREATE RELEASE research.groups FROM clinic.people (id KEY, age QUASI, ward QUASI, illness SENSITIVE)
GENERALIZE ward, age USING ranges (5, 10)
    UNTIL k = 2;
