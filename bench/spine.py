"""The spine: a release against a plain copy, on a database file and on UCI Adult."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import ppdm_sql
from bench.measure import Figure, best
from ppdm_sql.owner import Owner

_SOURCE = """
CREATE OR REPLACE TABLE main.people AS
SELECT
    i AS id,
    15 + (hash(i) % 76)::INTEGER AS age,
    (hash(i, 'income') % 10_000_000)::DOUBLE / 100 AS income,
    'diagnosis number ' || hash(i, 'diagnosis') % 40 AS diagnosis,
    'city ' || hash(i, 'city') % 300 AS city,
    (hash(i, 'stay') % 30)::INTEGER AS stay,
    DATE '2020-01-01' + (hash(i, 'day') % 1000)::INTEGER AS day,
    (hash(i, 'bmi') % 1000)::DOUBLE / 10 AS bmi
FROM range($rows) AS numbers (i)
"""
_RELEASE = """
CREATE OR REPLACE RELEASE research.people FROM main.people (
    id KEY AS keep(),
    age QUASI AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    income SENSITIVE AS graded_grouping(bands => 5),
    diagnosis SENSITIVE AS mapping(prefix => 'Illness'),
    city QUASI AS mapping(),
    stay NEUTRAL,
    day NEUTRAL,
    bmi NEUTRAL
)
"""
_ADULT = """
CREATE OR REPLACE RELEASE research.adult FROM main.adult (
    age QUASI AS graded_grouping(bands => 5),
    workclass QUASI, education SENSITIVE AS mapping(), "marital-status" QUASI, occupation QUASI,
    relationship QUASI, race QUASI, sex QUASI, "native-country" QUASI
);
CREATE OR REPLACE TABLE main.released AS SELECT * FROM research.adult;
"""


def run(rows: int) -> Iterator[Figure]:
    """Measure at `rows` and at a tenth of them."""
    per_row = {}
    for count in (rows // 10, rows):
        with open_owner() as owner:
            owner.execute(_SOURCE, {"rows": count})
            owner.execute("CHECKPOINT")
            copy = best(lambda: copy_table(owner, "main.people"))
            statement = best(lambda: owner.execute(_RELEASE))
            released = best(lambda: copy_table(owner, "research.people"))
            per_row[count] = released / count
            millions = f"{count / 1e6:g} M rows"
            bound = 1.6 if count == rows else None
            yield Figure(f"plain copy, {millions}", copy, "s")
            yield Figure(f"CREATE RELEASE, {millions}", statement, "s")
            yield Figure(f"copy of the release, {millions}", released, "s")
            yield Figure(f"release / plain copy, {millions}", released / copy, "×", bound)
    yield Figure(
        "time a row, many rows / a tenth of them", per_row[rows] / per_row[rows // 10], "×", 1.3
    )
    yield from _adult()


def _adult() -> Iterator[Figure]:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
    file = Path(os.environ.get("PPDM_ADULT", beside)) / "adult_32561.csv"
    if not file.exists():
        return
    with open_owner() as owner:
        owner.execute("CREATE TABLE main.adult AS FROM read_csv($file)", {"file": str(file)})
        seconds = best(lambda: owner.execute(_ADULT), times=5)
        yield Figure("UCI Adult, statement to finished table", seconds, "s", 0.2)


def copy_table(owner: Owner, table: str) -> None:
    """Copy a table or release into a new table of the same database."""
    owner.execute(
        "CREATE OR REPLACE TABLE main.copied AS FROM query_table($table)", {"table": table}
    )


@contextmanager
def open_owner(in_memory: bool = False) -> Iterator[Owner]:
    """Open an owner with a file of its own that goes away, or one in memory."""
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench") as folder,
        ppdm_sql.connect(":memory:" if in_memory else Path(folder) / "bench.duckdb") as owner,
    ):
        yield owner
