-- What researchers may work with: column by column, the role and the treatment.
CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;    -- 42038, 4203*, 420**, …
CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40);         -- bands of 5, 10, 20, 40 years
CREATE RELEASE research.patients
FROM clinic.patients (
    patient_id KEY        AS pseudonym(prefix => 'P-'),
    name       IDENTIFIER,
    zip        QUASI,
    age        QUASI,
    sex        QUASI,
    weight     SENSITIVE  AS noise(normal(0, 8)),        -- the same in every answer
    diagnosis  SENSITIVE,
    income     SENSITIVE  AS noise(laplace(0, 1500)),
    stay_days  NEUTRAL
)
GENERALIZE zip USING zip_digits, age USING ages, sex     -- coarser, until nobody is alone
    UNTIL k = 10, l(diagnosis) = 3
    SUPPRESS AT MOST 1%;
