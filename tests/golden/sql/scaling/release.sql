CREATE RELEASE research.people FROM clinic.people (weight SENSITIVE AS scaling());
