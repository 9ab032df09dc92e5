CREATE RELEASE research.groups FROM clinic.people (illness QUASI)
GENERALIZE illness USING illnesses UNTIL k = 2;
