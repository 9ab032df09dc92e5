CREATE RELEASE research.groups FROM clinic.people (id KEY, age QUASI, ward QUASI, illness SENSITIVE)
GENERALIZE ward, age USING DATE (month, year)
    UNTIL k = 2;
