AUDIT RELEASE research.people AGAINST 'register.csv'
