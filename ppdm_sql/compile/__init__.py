"""A bound release to SQL: one neutral tree, then the text of a target. No engine here."""
