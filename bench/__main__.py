"""Run all benchmarks; write docs/reports/benchmarks.md; exit 1 when a bound is not met."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from pathlib import Path

import duckdb

from bench import anonymity, audit, generalize, publish, spine, studies, treatments
from bench.measure import Figure


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument(
        "--no-write", action="store_true", help="leave docs/reports/benchmarks.md alone"
    )
    arguments = parser.parse_args()
    figures = []
    for room in (spine, treatments, anonymity, generalize, publish, studies, audit):
        for figure in room.run(arguments.rows):
            figures.append(figure)
            print(_line(figure), flush=True)
    if not arguments.no_write:
        Path("docs/reports/benchmarks.md").write_text(_page(figures), encoding="utf-8")
    return 0 if all(figure.is_met for figure in figures) else 1


def _line(figure: Figure) -> str:
    bound = "" if figure.bound is None else f"≤ {figure.bound:g} {figure.unit}"
    met = "" if figure.bound is None else ("met" if figure.is_met else "NOT MET")
    return f"{figure.what:<72} {figure.value:>8.3f} {figure.unit:<2} {bound:<10} {met}"


def _page(figures: list[Figure]) -> str:
    rows = "\n".join(
        f"| {figure.what} | {figure.value:.3f} {figure.unit} | "
        f"{'' if figure.bound is None else f'≤ {figure.bound:g} {figure.unit}'} | "
        f"{'' if figure.bound is None else 'yes' if figure.is_met else '**no**'} |"
        for figure in figures
    )
    return f"""# Benchmarks

Written by `make bench`. Ratios are between runs of the same process on the same data; seconds
depend on the machine: {os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, DuckDB {duckdb.__version__}.

| what | figure | bound | met |
|---|---:|---:|---|
{rows}
"""


if __name__ == "__main__":
    sys.exit(main())
