CREATE TEMP TABLE visitors AS FROM clinic.people;
