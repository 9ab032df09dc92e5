CREATE RELEASE study.people FROM clinic.people (
    id  NEUTRAL,
    age QUASI AS graded_grouping(bands => [[15, 29], [30, 44], [50, 80]], names => [0, 5, 7], outside => 'null')
);
