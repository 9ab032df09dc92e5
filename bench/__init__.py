"""Timings as ratios in one run: `make bench` prints a table and writes docs/reports/benchmarks.md."""
