CREATE RELEASE research.people FROM clinic.people (age QUASI AS translation(), weight SENSITIVE AS translation(by => 2.5));
