-- Translation, scaling, rotation, a mixture of them, and noise for a share of the rows.
-- The methods of document 003 (geometric data transformations), its table of age and salary in
-- thousands. Constants are given here to compare with the printed tables; leave them out and they are
-- drawn and kept in the owner's store.
CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, salary DOUBLE);
INSERT INTO people VALUES (1, 29, 48), (2, 38, 72), (3, 34, 51), (4, 43, 65), (5, 42, 60), (6, 48, 53);

CREATE RELEASE tdp FROM people (id KEY, (age, salary) SENSITIVE AS translation(by => [-3, 5]));
CREATE RELEASE sdp FROM people (id KEY, (age, salary) SENSITIVE AS scaling(by => [0.94, 1.035]));
CREATE RELEASE rdp FROM people (id KEY, (age, salary) SENSITIVE AS rotation(degrees => 13.7));
CREATE RELEASE hdp FROM people (id KEY, (age, salary) SENSITIVE AS hybrid(translation(2), scaling(0.93)));

-- Half of the rows get noise on top (the document takes 5 %); always the same rows, always the
-- same noise, whoever asks and however often.
CREATE RELEASE enhanced FROM people (
    id KEY,
    (age, salary) SENSITIVE AS rotation(degrees => 13.7)
                       THEN noise(uniform(-12, 18), normal(15, 0.3795), rho => 50)
);

-- (39.543, 39.766), (53.971, 60.952), (45.111, 41.497), (57.171, 52.967), (55.015, 48.346), (59.187, 40.124)
SELECT round(age, 3) AS age, round(salary, 3) AS salary FROM rdp;
