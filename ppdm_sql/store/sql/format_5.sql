-- Format 5: several tables about the same persons.

-- Which column of a table a column is, whom or what its values name, and which others its pseudonyms
-- meet; NULL in versions of earlier programs.
ALTER TABLE "ppdm_store"."ppdm_owner"."columns" ADD COLUMN identity VARCHAR;
ALTER TABLE "ppdm_store"."ppdm_owner"."columns" ADD COLUMN entity VARCHAR;
ALTER TABLE "ppdm_store"."ppdm_owner"."columns" ADD COLUMN meets VARCHAR;

-- One row a study: releases that go out together.
CREATE TABLE "ppdm_store"."ppdm_owner"."studies" (
    study_name VARCHAR NOT NULL,
    definition VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- The study that was published, and whose keys its pseudonyms have: NULL for the store's own.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN study VARCHAR;
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN key_scope VARCHAR;

-- Databases of the owner's that sources are read from: attached whenever the store is opened.
CREATE TABLE "ppdm_store"."ppdm_owner"."attachments" (
    attached_name VARCHAR NOT NULL,
    path VARCHAR NOT NULL
);
