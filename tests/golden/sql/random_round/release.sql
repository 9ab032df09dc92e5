CREATE RELEASE research.people FROM clinic.people (id KEY, age QUASI AS random_round(to => 5), weight SENSITIVE AS random_round(to => 0.25));
