CREATE RELEASE research.people FROM clinic.people (age QUASI AS bottom_code(at => 27), weight SENSITIVE AS bottom_code(percent => 15));
