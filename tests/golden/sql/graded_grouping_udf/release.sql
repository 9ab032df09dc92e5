CREATE RELEASE study.people FROM clinic.people (
    id     NEUTRAL,
    income SENSITIVE AS graded_grouping(bands => 3)
)
WITH (execution = 'udf');
