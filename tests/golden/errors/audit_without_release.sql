AUDIT research.people;
