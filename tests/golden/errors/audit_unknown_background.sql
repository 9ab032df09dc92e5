AUDIT RELEASE research.people AGAINST clinic.voters;
