CREATE RELEASE r FROM clinic.peopel (id KEY);
