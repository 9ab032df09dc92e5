CREATE RELEASE research.contacts FROM clinic.contacts (id KEY, contact NEUTRAL AS encrypt(keep_prefix => 2));
