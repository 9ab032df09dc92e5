-- One column, seven treatments: what each keeps and what it changes.
CREATE RELEASE research.incomes
FROM (
    SELECT patient_id, income AS graded, income AS digits, income AS translated, income AS scaled,
           income AS noised, income AS mean_noised, income AS aggregated
    FROM clinic.patients
) (
    patient_id  KEY       AS keep(),                     -- to compare here; analysts would get a pseudonym
    graded      SENSITIVE AS graded_grouping(bands => [0, 2000, 5000, 12000]),
    digits      SENSITIVE AS bit_plus(),
    translated  SENSITIVE AS translation(),              -- constants left out are drawn and kept secret
    scaled      SENSITIVE AS scaling(),
    noised      SENSITIVE AS noise(normal(0, 400)),      -- fixed for each patient
    mean_noised SENSITIVE AS mean_noise(),
    aggregated  SENSITIVE AS microaggregation(size => 50)
);
