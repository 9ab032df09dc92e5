CREATE RELEASE patients FROM clinic.people (ward NEUTRAL);
