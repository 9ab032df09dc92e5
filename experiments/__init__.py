"""The documents' experiments, run again: `make experiments` writes docs/experiments.md."""
