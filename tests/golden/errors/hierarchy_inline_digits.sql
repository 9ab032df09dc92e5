CREATE RELEASE research.groups FROM clinic.people (id KEY, age QUASI, ward QUASI, illness SENSITIVE)
GENERALIZE ward, age USING SUPPRESS DIGITS RIGHT
    UNTIL k = 2;
