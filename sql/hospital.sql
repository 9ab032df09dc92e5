-- A hospital's contacts, accounts and values for people who build software on them: everything looks
-- as it does in the source, and nobody's own number, address or value stands in its own row.
CREATE SCHEMA hospital;
CREATE TABLE hospital.cases AS
SELECT i AS case_id, 'patient' || i || ['@post.org', '@clinic.org', '@own' || i || '.org'][1 + i % 3] AS mail,
    printf('%010d', (i * 7919133571) % 10000000000) AS insurance, '10.' || i % 7 || '.' || i % 200 || '.9' AS address,
    ['Flu', 'Asthma', 'Diabetes', 'Cancer'][1 + (hash(i) % 4)::INTEGER] AS diagnosis,
    (200 + hash(i * 3) % 9000)::INTEGER AS cost, (hash(i * 5) % 12)::INTEGER AS nights,
    (18 + hash(i * 7) % 75)::INTEGER AS age
FROM range(3000) AS r (i);
CREATE HIERARCHY years AS RANGES (5, 10, 20);

CREATE RELEASE software.cases FROM hospital.cases (
    case_id   KEY       AS pseudonym(),
    mail      NEUTRAL   AS email(at_least => 50),            -- the domain where fifty addresses have it
    insurance NEUTRAL   AS encrypt(keep_prefix => 2),        -- as many digits, the first two as they were
    address   QUASI     AS ip(v4 => 16),                     -- the network
    age       QUASI,
    diagnosis SENSITIVE AS pram(keep => 0.8),                -- one of five says another illness
    cost      SENSITIVE AS rank_swap(percent => 5),          -- the cost of somebody who cost about as much
    nights    NEUTRAL   AS shuffle()                         -- the nights of anybody
)
-- Ages of ten years, whatever the groups are: the network and the age are not to be guessed from.
GENERALIZE age USING years LEVEL 2;
DESCRIBE RELEASE software.cases;  -- then PUBLISH RELEASE software.cases TO 'software/' (FORMAT csv)
                                  --     WITH (disclose = ['pram(diagnosis)', 'rank_swap(cost)'])
SELECT diagnosis, count(*) AS cases, round(avg(cost)) AS cost FROM software.cases GROUP BY ALL ORDER BY ALL;
