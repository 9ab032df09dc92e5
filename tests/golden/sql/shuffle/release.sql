CREATE RELEASE research.people FROM clinic.people (id KEY, illness SENSITIVE AS shuffle(), age QUASI AS shuffle());
