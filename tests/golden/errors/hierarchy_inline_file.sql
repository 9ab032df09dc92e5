CREATE RELEASE research.groups FROM clinic.people (id KEY, age QUASI, ward QUASI, illness SENSITIVE)
GENERALIZE ward, age USING 'ages.csv'
    UNTIL k = 2;
