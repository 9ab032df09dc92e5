"""A release: bound to its source, compiled to one SELECT, opened again as a version."""
