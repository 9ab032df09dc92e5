CREATE VIEW wards AS SELECT ward FROM clinic.people;
