-- The owner's store, made with a new database. Everything in it is secret.
CREATE SCHEMA "ppdm_store"."ppdm_owner";

CREATE TABLE "ppdm_store"."ppdm_owner"."store" (
    format INTEGER NOT NULL,
    root_key BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL
);

-- One row a release: its current version.
CREATE TABLE "ppdm_store"."ppdm_owner"."releases" (
    release_id INTEGER NOT NULL,
    schema_name VARCHAR NOT NULL,
    release_name VARCHAR NOT NULL,
    version INTEGER NOT NULL
);

-- One row a version. Its parameters and lookup tables are in the tables it names.
CREATE TABLE "ppdm_store"."ppdm_owner"."versions" (
    release_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at TIMESTAMP NOT NULL,
    definition VARCHAR NOT NULL,
    source_rows BIGINT NOT NULL,
    tables VARCHAR[] NOT NULL
);

-- One row a column of a version; type is NULL for a column that stays with the owner.
CREATE TABLE "ppdm_store"."ppdm_owner"."columns" (
    release_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    column_name VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    treatments VARCHAR[] NOT NULL,
    source_type VARCHAR NOT NULL,
    type VARCHAR,
    note VARCHAR
);

-- One row a figure of a version with GENERALIZE: what it reached, what it cost.
CREATE TABLE "ppdm_store"."ppdm_owner"."figures" (
    release_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    figure VARCHAR NOT NULL,
    value DOUBLE,
    note VARCHAR NOT NULL
);

-- One row a hierarchy. Listed values are in a table h<id>_levels of their own.
CREATE TABLE "ppdm_store"."ppdm_owner"."hierarchies" (
    hierarchy_id INTEGER NOT NULL,
    hierarchy_name VARCHAR NOT NULL,
    definition VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL
);
CREATE SEQUENCE "ppdm_store"."ppdm_owner"."hierarchy_ids";

-- Numbers are never used twice, so that names of tables are not either.
CREATE SEQUENCE "ppdm_store"."ppdm_owner"."release_ids";
