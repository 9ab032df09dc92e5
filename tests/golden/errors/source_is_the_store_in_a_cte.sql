CREATE RELEASE r
FROM (WITH kept AS (FROM ppdm_owner.store) SELECT root_key FROM kept) (
    root_key NEUTRAL
)
