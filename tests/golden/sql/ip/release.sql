CREATE RELEASE research.contacts FROM clinic.contacts (id KEY, contact NEUTRAL AS ip(v4 => 16));
