SELECT 1;
/* a release
CREATE RELEASE r FROM clinic.people (ward NEUTRAL);
