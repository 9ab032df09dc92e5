CREATE RELEASE r FROM clinic.people (ward NEUTRAL);
CREATE VIEW wards AS SELECT ward FROM r;
