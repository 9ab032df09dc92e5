-- What researchers may work with: column by column, the role and the treatment.
CREATE RELEASE research.patients
FROM clinic.patients (
    patient_id KEY        AS pseudonym(prefix => 'P-'),
    name       IDENTIFIER,                               -- never leaves
    zip        QUASI      AS suppress(),
    age        QUASI      AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    sex        QUASI,
    weight     SENSITIVE  AS graded_grouping(bands => 6),
    diagnosis  SENSITIVE  AS mapping(prefix => 'Illness'),
    income     SENSITIVE  AS graded_grouping(bands => 8),
    stay_days  NEUTRAL
);
