-- Shifted digits, noise that keeps the mean, and microaggregation, on ten incomes.
-- The methods of document 004, its table of incomes.
CREATE TABLE incomes (id INTEGER PRIMARY KEY, income INTEGER);
INSERT INTO incomes VALUES
    (1, 65982), (2, 75675), (3, 56030), (4, 9657), (5, 9954),
    (6, 86791), (7, 96786), (8, 54359), (9, 7650), (10, 8763);

CREATE RELEASE bit_up   FROM incomes (id KEY AS keep(), income SENSITIVE AS bit_plus());
CREATE RELEASE bit_down FROM incomes (id KEY AS keep(), income SENSITIVE AS bit_minus());
CREATE RELEASE noised   FROM incomes (id KEY AS keep(), income SENSITIVE AS mean_noise(round_up => true));
CREATE RELEASE grouped  FROM incomes (id KEY AS keep(), income SENSITIVE AS microaggregation(clusters => 3));

SELECT id, bit_up.income AS "Bit++", bit_down.income AS "Bit--", noised.income AS noised, round(grouped.income, 2) AS grouped
FROM bit_up JOIN bit_down USING (id) JOIN noised USING (id) JOIN grouped USING (id)
ORDER BY id;
