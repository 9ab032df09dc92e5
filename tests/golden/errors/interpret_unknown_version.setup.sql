CREATE RELEASE research.people FROM clinic.people (age QUASI AS translation(by => 5));
REFRESH RELEASE research.people
