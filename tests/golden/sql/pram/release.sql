CREATE RELEASE research.people FROM clinic.people (id KEY, illness SENSITIVE AS pram(keep => 0.8), age QUASI AS pram(keep => 0.75));
