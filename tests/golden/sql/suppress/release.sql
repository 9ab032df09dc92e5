CREATE RELEASE study.people FROM clinic.people (
    name NEUTRAL AS suppress(),
    (age, income) QUASI AS suppress()
);
