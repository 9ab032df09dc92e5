CREATE RELEASE research.people FROM clinic.people (income SENSITIVE AS mean_noise());
