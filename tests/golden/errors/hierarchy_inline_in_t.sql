CREATE RELEASE research.groups FROM clinic.people (id KEY, age QUASI, illness SENSITIVE)
GENERALIZE age UNTIL t(illness USING TREE (('Flu', 'mild'))) <= 0.2;
