CREATE TABLE clinic.contacts AS SELECT id, (id + 10000000)::VARCHAR AS contact FROM clinic.people;
