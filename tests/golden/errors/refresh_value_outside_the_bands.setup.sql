CREATE RELEASE research.people FROM clinic.people (weight SENSITIVE AS graded_grouping(bands => 3));
INSERT INTO clinic.people (weight) VALUES (4711)
