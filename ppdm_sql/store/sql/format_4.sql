-- Format 4: a publication is written down before it is put in its place.

-- `pending` until it is there; `unknown` where a process died meanwhile and nobody can tell.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN state VARCHAR DEFAULT 'done';
-- SHA-256 of what was written.
ALTER TABLE "ppdm_store"."ppdm_owner"."publications" ADD COLUMN digest VARCHAR;
