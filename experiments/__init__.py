"""The documents' experiments, run again: `make experiments` writes pages into docs/."""
