"""Timings as ratios in one run: `make bench` prints a table and writes docs/benchmarks.md."""
