"""DuckDB: connections, errors without data, results, SQL trees. Knows no release and no store."""
