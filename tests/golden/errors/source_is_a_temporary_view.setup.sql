CREATE TEMP VIEW visitors AS FROM clinic.people;
