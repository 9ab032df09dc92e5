AUDIT RELEASE research.nobody;
