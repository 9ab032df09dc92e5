CREATE RELEASE research.groups FROM clinic.people (id KEY, age QUASI, ward QUASI, illness SENSITIVE)
GENERALIZE ward, age USING TABLE clinic.ages
    UNTIL k = 2;
