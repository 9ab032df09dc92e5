CREATE RELEASE r FROM clinic.people (ward NEUTRAL);
