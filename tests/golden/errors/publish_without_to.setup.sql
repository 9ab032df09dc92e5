CREATE RELEASE research.people FROM clinic.people (id KEY AS pseudonym(), ward NEUTRAL);
