CREATE RELEASE main.r
FROM (SELECT root_key FROM store WHERE EXISTS (WITH store AS (SELECT 1) FROM store)) (
    root_key NEUTRAL
)
