AUDIT RELEASE research.people AGAINST clinic.wards;
