"""GENERALIZE: groups of people who show the same. Clause, queries, search, hierarchies."""
