CREATE HIERARCHY tens AS RANGES (10, 20);
CREATE HIERARCHY illnesses AS TREE (('Flu', 'mild'), ('HIV', 'grave'));
CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;
CREATE RELEASE research.people FROM clinic.people (age QUASI);
