CREATE RELEASE research.groups FROM clinic.people (age QUASI)
WITH (suppressed = 'star');
