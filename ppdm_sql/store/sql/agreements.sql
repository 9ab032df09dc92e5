-- One row an agreement with other sites: whoever reads its key can undo what every site released.
CREATE TABLE "ppdm_store"."ppdm_owner"."agreements" (
    name VARCHAR NOT NULL,
    definition VARCHAR NOT NULL,
    master_key BLOB NOT NULL,
    created_at TIMESTAMP NOT NULL
);
