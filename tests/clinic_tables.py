"""Three tables of a clinic about the same persons, with rows of nobody and orphans."""

from __future__ import annotations

TABLES = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients (patient_id INTEGER PRIMARY KEY, born DATE, sex VARCHAR, zip INTEGER);
CREATE TABLE clinic.visits (
    visit_id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES clinic.patients (patient_id),
    admitted TIMESTAMP, discharged TIMESTAMP, ward VARCHAR, illness VARCHAR
);
CREATE TABLE clinic.labs (lab_id INTEGER PRIMARY KEY, visit_id INTEGER, taken TIMESTAMP, value DOUBLE);
INSERT INTO clinic.patients SELECT i, DATE '1940-01-01' + (hash(i) % 25000)::INTEGER,
    ['F', 'M'][1 + i % 2], 1000 + hash(i * 3) % 4 FROM range({persons}) AS r (i);
INSERT INTO clinic.visits SELECT 5000 + i,
    CASE WHEN i % 41 = 0 THEN NULL ELSE hash(i * 7) % {persons} END,
    TIMESTAMP '2023-01-01' + INTERVAL (hash(i * 11) % 500000) MINUTE,
    TIMESTAMP '2023-01-01' + INTERVAL (hash(i * 11) % 500000 + 60 + hash(i) % 5000) MINUTE,
    ['A', 'B'][1 + (hash(i * 5) % 2)::INTEGER], ['Flu', 'Asthma', 'Cancer'][1 + (hash(i * 13) % 3)::INTEGER]
    FROM range(2 * {persons}) AS r (i);
INSERT INTO clinic.labs SELECT 90000 + i,
    CASE WHEN i % 53 = 0 THEN NULL WHEN i % 59 = 0 THEN 1 ELSE 5000 + hash(i * 17) % (2 * {persons}) END,
    TIMESTAMP '2023-01-02' + INTERVAL (hash(i * 19) % 500000) MINUTE, hash(i * 23) % 10
    FROM range(4 * {persons}) AS r (i);
"""
"""labs has orphans (visit 1), so its key is not declared: the release says it."""
RELEASES = """
CREATE HIERARCHY decades AS DATE (year, decade);
CREATE RELEASE research.patients FROM clinic.patients (
    patient_id KEY OF patient AS pseudonym(prefix => 'P-'), born QUASI, sex QUASI, zip QUASI
) GENERALIZE born USING decades, sex, zip UNTIL k = 5 SUPPRESS AT MOST 20 PERCENT;
CREATE RELEASE research.visits FROM clinic.visits (
    visit_id NEUTRAL AS pseudonym(), patient_id KEY AS pseudonym(prefix => 'P-'),
    admitted NEUTRAL AS date_shift(days => 200), discharged NEUTRAL AS date_shift(days => 200),
    ward QUASI, illness SENSITIVE
);
CREATE RELEASE research.labs FROM clinic.labs (
    visit_id KEY REFERENCES clinic.visits (visit_id) AS pseudonym(),
    taken NEUTRAL AS date_shift(days => 200), value NEUTRAL
);
"""
MEMBERS = "research.patients, research.visits, research.labs"
STUDY = f"CREATE STUDY hospital OF {MEMBERS} PERSON patient"


def tables(persons: int = 300) -> str:
    """Return the script that makes and fills the tables."""
    return TABLES.format(persons=persons)
