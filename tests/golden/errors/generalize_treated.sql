CREATE RELEASE research.groups FROM clinic.people (age QUASI AS graded_grouping(bands => 2))
GENERALIZE age UNTIL k = 2;
