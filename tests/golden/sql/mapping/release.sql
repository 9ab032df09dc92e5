CREATE RELEASE study.people FROM clinic.people (
    id      NEUTRAL,
    illness SENSITIVE AS mapping(prefix => 'Illness'),
    ward    QUASI     AS mapping(),
    income  SENSITIVE AS mapping(prefix => 'Income')
);
