CREATE RELEASE research.people FROM clinic.people (id KEY, income SENSITIVE AS rank_swap(percent => 50));
