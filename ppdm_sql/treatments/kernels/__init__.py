"""Vectorised mathematics: arrays in, arrays out.

No engine, no SQL, no store. A kernel captures nothing: every parameter, keys included, is an
argument. Its exceptions are fixed texts, because DuckDB shows them to whoever runs the query.
"""
