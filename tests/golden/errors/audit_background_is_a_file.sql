AUDIT RELEASE research.people AGAINST voters.csv;
