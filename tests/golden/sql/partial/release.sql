CREATE RELEASE research.people FROM clinic.people (illness SENSITIVE AS partial(left => 4, right => 5));
