CREATE RELEASE research.people FROM clinic.people (age QUASI AS round(to => 5), weight SENSITIVE AS round(to => 0.25), income SENSITIVE AS round(to => 300));
