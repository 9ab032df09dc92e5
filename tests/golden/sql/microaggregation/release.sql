CREATE RELEASE research.people FROM clinic.people (weight SENSITIVE AS microaggregation(size => 2), (age, income) SENSITIVE AS microaggregation(size => 2));
