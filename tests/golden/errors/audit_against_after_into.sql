AUDIT RELEASE research.people INTO audits AGAINST clinic.people;
