-- Format 4: the ledger. What went out, to whom, of which columns, how treated.

-- A publication is written down before it is put in its place: `pending` until it is there, then
-- `done`; `unknown` where a process died meanwhile and nobody can tell.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN state VARCHAR DEFAULT 'done';
-- SHA-256 of what was written.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN digest VARCHAR;
-- For whom it was made, as the owner said.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN recipient VARCHAR;
-- Distinct KEYs of the source then; NULL without a KEY.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN persons BIGINT;

-- One row a column of a publication. No value and no digest of one is here.
CREATE TABLE "ppdm_store"."ppdm_owner"."published_columns" (
    publication VARCHAR NOT NULL,
    release_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    column_name VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    treatments VARCHAR[] NOT NULL,
    -- The columns of tables that it was computed from.
    origins VARCHAR[] NOT NULL,
    -- The same for columns that were treated with the same parameters.
    key_id VARCHAR NOT NULL
);
