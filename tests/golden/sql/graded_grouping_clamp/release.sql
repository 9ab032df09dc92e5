CREATE RELEASE study.people FROM clinic.people (
    id     NEUTRAL,
    weight SENSITIVE AS graded_grouping(bands => [[60, 65], [70, 75]], outside => 'clamp')
);
