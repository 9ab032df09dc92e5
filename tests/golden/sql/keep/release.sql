CREATE RELEASE study.people FROM clinic.people (
    age  QUASI,
    ward NEUTRAL AS keep()
);
