PUBLISH RELEASE research.people TO 'folder/' (FORMAT duckdb);
