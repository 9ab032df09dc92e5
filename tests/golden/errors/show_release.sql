SHOW RELEASE research.people;
