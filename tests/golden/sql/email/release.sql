CREATE RELEASE research.contacts FROM clinic.contacts (id KEY, contact NEUTRAL AS email(at_least => 2));
