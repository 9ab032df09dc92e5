-- Only the patients whose illness is delicate are generalized, until nobody among them is alone.
CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40);
CREATE RELEASE research.delicate
FROM clinic.patients (
    patient_id KEY,                                      -- classes are counted in persons
    zip        QUASI,
    age        QUASI,
    sex        QUASI,
    diagnosis  SENSITIVE  AS mapping(prefix => 'Illness'),
    stay_days  NEUTRAL
)
GENERALIZE zip USING zip_digits, age USING ages, sex     -- sex: as it is, or *
    WHEN diagnosis IN ('HIV', 'Cancer')                  -- the high class; left out: all rows
    UNTIL k = 5, l(diagnosis) = 2
    SUPPRESS AT MOST 5 PERCENT;
