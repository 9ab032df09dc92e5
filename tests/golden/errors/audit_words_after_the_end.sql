AUDIT RELEASE research.people TO 'r.html' AGAINST clinic.wards;
