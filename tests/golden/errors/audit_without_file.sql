AUDIT RELEASE research.people TO report;
