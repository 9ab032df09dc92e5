CREATE TABLE clinic."a ""table""" ("select" INTEGER, "we""ird; --" VARCHAR, "Ünï" DOUBLE, "s" VARCHAR, "p" VARCHAR, "m0" VARCHAR);
INSERT INTO clinic."a ""table""" VALUES (1, 'x', 1.5, 'a', 'b', 'c'), (2, NULL, 2.5, 'a', 'b', 'c');
CREATE RELEASE "Study ""One"""."People!" FROM clinic."a ""table""" (
    "SELECT"       QUASI     AS graded_grouping(bands => [0, 5]),
    "we""ird; --" SENSITIVE AS mapping(),
    "Ünï"          SENSITIVE AS graded_grouping(bands => [0, 5]) THEN keep(),
    "s"            NEUTRAL   AS pseudonym(),
    "p"            NEUTRAL   AS mapping(),
    "m0"           NEUTRAL
);
