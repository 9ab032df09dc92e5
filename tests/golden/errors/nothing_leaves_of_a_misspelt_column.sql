CREATE RELEASE r FROM clinic.people (idd KEY);
