CREATE RELEASE research.groups FROM clinic.people (age QUASI, ward QUASI)
GENERALIZE age UNTIL k = 2
WITH (agreement = 'north');
