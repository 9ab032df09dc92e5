-- Chains of different length: every stage is a SELECT over the one before.
CREATE RELEASE study.people FROM clinic.people (
    id           KEY       AS pseudonym(),
    age          QUASI     AS keep() THEN graded_grouping(bands => 2),
    illness      SENSITIVE AS mapping() THEN pseudonym(length => 8) THEN mapping(prefix => 'Code'),
    (name, ward) NEUTRAL   AS keep() THEN suppress()
);
