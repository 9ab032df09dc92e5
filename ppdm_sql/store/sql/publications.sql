-- One row a release that was published: what is outside, and under which keys.
CREATE TABLE "ppdm_store"."ppdm_owner"."publications" (
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
