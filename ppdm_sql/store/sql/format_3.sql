-- Format 3: a version says by which formula it was made and what it found, as data.

-- Stores of format 2 from before there were publications and agreements lack these two.
-- One row a release that was published: what is outside, and under which keys.
CREATE TABLE IF NOT EXISTS "ppdm_store"."ppdm_owner"."publications" (
    publication VARCHAR NOT NULL,
    published_at TIMESTAMP NOT NULL,
    path VARCHAR NOT NULL,
    format VARCHAR NOT NULL,
    unlinkable BOOLEAN NOT NULL,
    release_id INTEGER NOT NULL,
    schema_name VARCHAR NOT NULL,
    release_name VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    row_count BIGINT NOT NULL
);

-- One row an agreement with other sites: whoever reads its key can undo what every site released.
CREATE TABLE IF NOT EXISTS "ppdm_store"."ppdm_owner"."agreements" (
    name VARCHAR NOT NULL,
    definition VARCHAR NOT NULL,
    master_key BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- How its treatments compute: what was released never changes, whatever later versions do.
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN formula INTEGER DEFAULT 1;
-- Which program made it.
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN software VARCHAR;
-- Its source, as SHOW RELEASES calls it; NULL: read it from the definition.
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN source VARCHAR;
-- What GENERALIZE found: NULL without it.
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN suppressed_rows BIGINT;
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN precision DOUBLE;
-- Rows that left when it was made.
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN released_rows BIGINT;
-- A query that counts the rows GENERALIZE withholds until REFRESH; NULL: nothing, or not written yet.
ALTER TABLE "ppdm_store"."ppdm_owner"."versions" ADD COLUMN waiting VARCHAR;

UPDATE "ppdm_store"."ppdm_owner"."versions" AS v SET
    suppressed_rows = (
        SELECT system.main.any_value(f.value)::BIGINT FROM "ppdm_store"."ppdm_owner"."figures" AS f
        WHERE f.release_id = v.release_id AND f.version = v.version AND f.figure = 'rows suppressed'
    ),
    precision = (
        SELECT system.main.any_value(f.value) FROM "ppdm_store"."ppdm_owner"."figures" AS f
        WHERE f.release_id = v.release_id AND f.version = v.version
            AND f.figure = 'precision of the release'
    ),
    released_rows = source_rows - coalesce((
        SELECT system.main.any_value(f.value)::BIGINT FROM "ppdm_store"."ppdm_owner"."figures" AS f
        WHERE f.release_id = v.release_id AND f.version = v.version
            AND f.figure = 'rows suppressed' AND f.note = 'left out'
    ), 0);
