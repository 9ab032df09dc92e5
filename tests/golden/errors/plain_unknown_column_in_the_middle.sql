SELECT 1;

-- the second statement; it is wrong
SELECT id,
       nope
FROM clinic.people;

CREATE RELEASE r FROM clinic.people (ward NEUTRAL);
