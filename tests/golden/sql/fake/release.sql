CREATE RELEASE research.contacts FROM clinic.contacts (id KEY, contact NEUTRAL AS fake('name', locale => 'de'));
