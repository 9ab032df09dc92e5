"""What a statement of an analyst may contain. Everything that is not listed is refused.

The gate reads DuckDB's own parse of a statement, not the text; what it lets through is the text
that DuckDB writes of that parse. It knows no engine: `Parser` is all it asks of one.
"""
