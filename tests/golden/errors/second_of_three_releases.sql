-- first
CREATE RELEASE a FROM clinic.people (ward NEUTRAL);
-- second; with a mistake
CREATE RELEASE b FROM clinic.people (ward NEUTRALL);
-- third
CREATE RELEASE c FROM clinic.people (ward NEUTRAL);
