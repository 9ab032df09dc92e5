CREATE RELEASE study.people FROM clinic.people (
    id     NEUTRAL,
    weight SENSITIVE AS graded_grouping(bands => [30, 60, 90, 120])
);
