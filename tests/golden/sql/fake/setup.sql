CREATE TABLE clinic.contacts AS SELECT id, ward || '@x.org' AS contact FROM clinic.people;
