CREATE RELEASE r
FROM (SELECT ward, (SELECT root_key FROM ppdm_owner.store) AS root_key FROM clinic.people) (
    root_key NEUTRAL
)
