-- A statistical office: wages of persons, as such offices publish them. Ages instead of dates of birth,
-- rounded wages, the highest and lowest coded by a limit, months instead of days, groups of five at least.
CREATE SCHEMA office;
CREATE TABLE office.persons AS
SELECT i AS person, DATE '1946-03-01' + (hash(i) % 20000)::INTEGER AS born,
    ['north', 'south', 'east'][1 + (hash(i * 3) % 3)::INTEGER] AS region,
    (1500 + hash(i * 7) % 4000 + CASE WHEN i % 200 = 0 THEN 30000 ELSE 0 END)::INTEGER AS wage,
    DATE '2024-01-01' + (hash(i * 11) % 365)::INTEGER AS hired, 'P-' || (10000 + i) AS file_number
FROM range(2000) AS r (i);

CREATE RELEASE published.wages FROM office.persons (
    person      KEY,
    born        QUASI     AS age_at('2026-01-01') THEN round(to => 5) THEN bottom_code(at => 20),
    region      QUASI,
    wage        SENSITIVE AS round(to => 50) THEN top_code(percent => 99),
    hired       NEUTRAL   AS truncate('quarter'),
    file_number NEUTRAL   AS partial(left => 3)
);
DESCRIBE RELEASE published.wages;
SELECT region, born AS about_years, count(*) AS persons, median(wage) AS wage FROM published.wages
GROUP BY ALL ORDER BY ALL;


-- The same persons as a file for research: single cells become * instead of whole rows, ages matter most,
-- wages of a group do not lie too close to each other, and ranges can be sorted.
CREATE HIERARCHY ages AS RANGES (5, 10, 20);
CREATE RELEASE published.persons
FROM (SELECT *, date_sub('year', born, DATE '2026-01-01') AS age FROM office.persons) (
    person KEY,
    age    QUASI,
    region QUASI,
    wage   SENSITIVE AS rank_swap(percent => 5, within => 'region')
)
GENERALIZE age USING ages LEVEL 2 WEIGHT 2, region
    UNTIL k = 5, proximity(wage, 100) = 2
    SUPPRESS CELLS AT MOST 10 PERCENT
WITH (ranges = 'columns');
SELECT region, age_low, age_high, count(*) AS persons, median(wage) AS wage FROM published.persons
GROUP BY ALL ORDER BY ALL;
