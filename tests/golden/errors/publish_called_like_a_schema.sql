PUBLISH RELEASE research.people
TO 'Research.duckdb';