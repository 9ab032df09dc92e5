CREATE RELEASE research.people FROM clinic.people ((age, weight) SENSITIVE AS hybrid());
