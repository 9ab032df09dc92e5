CREATE RELEASE research.people FROM clinic.people (age QUASI AS top_code(at => 57, shown => 'label'), income SENSITIVE AS top_code(percent => 90));
