-- KEY without a treatment and IDENTIFIER stay; only what is listed leaves.
CREATE RELEASE study.people FROM clinic.people (
    id      KEY,
    name    IDENTIFIER,
    age     QUASI,
    illness SENSITIVE,
    ward    NEUTRAL
);
