-- A first try: the names are left out, and everybody gets a pseudonym. Is that enough?
CREATE RELEASE drafts.patients
FROM clinic.patients (
    patient_id KEY AS pseudonym(),
    name       IDENTIFIER,                               -- is not released
    zip QUASI, age QUASI, sex QUASI,
    weight SENSITIVE, diagnosis SENSITIVE, income SENSITIVE,
    stay_days  NEUTRAL
);
