CREATE RELEASE r
FROM (SELECT root_key FROM query('FROM ppdm_owner.store')) (
    root_key NEUTRAL
)
