"""GENERALIZE as a whole statement on UCI Adult, and what a hundred times the rows add to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import ppdm_sql
from bench.measure import Figure, best
from ppdm_sql.owner import Owner

_COLUMNS = (
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
    "occupation", "salary-class",
)  # fmt: skip
_TIMES = 100


def run(rows: int) -> Iterator[Figure]:
    """Measure on Adult, whatever the number of rows asked for."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
    folder = Path(os.environ.get("PPDM_ADULT", beside))
    if not (folder / "adult_9col.csv").exists():
        return
    seconds = {}
    for times in (1, _TIMES):
        with ppdm_sql.connect(":memory:") as owner:
            _prepare(owner, folder, times)
            for what, percent in (("0 %", 0), ("4 %", 4), ("100 %", 100)):
                statement = _statement(percent)
                seconds[times, percent] = best(lambda: owner.execute(statement), times=3)  # noqa: B023
                if times == 1:
                    name = f"CREATE RELEASE, Adult, 9 columns, k = 5, {what}"
                    yield Figure(name, seconds[times, percent], "s")
    for percent in (0, 4):
        more = seconds[_TIMES, percent] - seconds[1, percent]
        yield Figure(f"Adult × {_TIMES} (3 M rows), more than Adult, {percent} %", more, "s", 1)


def _prepare(owner: Owner, folder: Path, times: int) -> None:
    owner.execute(
        f"CREATE TABLE adult AS SELECT t.* FROM read_csv('{folder / 'adult_9col.csv'}',"
        f" delim = ';', header = true) AS t, range({times})"
    )
    for name in _COLUMNS:
        file = folder / "hierarchies" / f"adult_hierarchy_{name}.csv"
        owner.execute(f"CREATE HIERARCHY \"{name}\" AS FROM '{file}'")


def _statement(percent: int) -> str:
    rules = ", ".join(f'"{name}" QUASI' for name in _COLUMNS)
    hierarchies = ", ".join(f'"{name}" USING "{name}"' for name in _COLUMNS)
    return (
        f"CREATE OR REPLACE RELEASE study.adult FROM adult ({rules}) GENERALIZE {hierarchies}"
        f" UNTIL k = 5 SUPPRESS AT MOST {percent} PERCENT WITH (loss = 'ilm')"
    )
