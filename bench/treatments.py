"""The treatments: eight columns of a database file through five and more of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bench.measure import Figure, best
from bench.spine import copy_table, open_owner
from ppdm_sql.owner import Owner

_SOURCE = """
CREATE OR REPLACE TABLE main.people AS
SELECT
    i AS id,
    15 + (hash(i) % 76)::INTEGER AS age,
    (hash(i, 'income') % 10_000_000)::BIGINT AS income,
    'diagnosis number ' || hash(i, 'diagnosis') % 40 AS diagnosis,
    (hash(i, 'height') % 600)::DOUBLE / 10 + 140 AS height,
    (hash(i, 'weight') % 1000)::DOUBLE / 10 + 40 AS weight,
    (hash(i, 'pulse') % 1000)::DOUBLE / 10 + 40 AS pulse,
    (hash(i, 'bmi') % 1000)::DOUBLE / 10 AS bmi
FROM range($rows) AS numbers (i)
"""
_FIVE = """
    age QUASI AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    income SENSITIVE AS bit_plus(),
    diagnosis SENSITIVE AS mapping(prefix => 'Illness'),
    height SENSITIVE AS scaling(),
    (weight, pulse) SENSITIVE AS rotation()
"""
_RELEASES = {
    "five treatments": f"id KEY AS keep(), {_FIVE}, bmi NEUTRAL",
    "and keyed normal noise": f"id KEY AS keep(), {_FIVE}, bmi SENSITIVE AS noise(normal(0, 3))",
    "and a pseudonym": f"id KEY AS pseudonym(), {_FIVE}, bmi SENSITIVE AS noise(normal(0, 3))",
}
_ON_FILE = {"five treatments": 1.6, "and keyed normal noise": 3.0, "and a pseudonym": 5.0}
_IN_MEMORY = {"five treatments": 2.0, "and keyed normal noise": 5.0, "and a pseudonym": None}


def run(rows: int) -> Iterator[Figure]:
    """Measure on a file and in memory, against a copy and against numpy."""
    with open_owner() as owner:
        owner.execute(_SOURCE, {"rows": rows})
        owner.execute("CHECKPOINT")
        yield from _against_copy(
            owner, "on a file", _ON_FILE, best(lambda: copy_table(owner, "main.people"))
        )
        yield from _microaggregation(owner, min(rows, 1_000_000))
    with open_owner(in_memory=True) as owner:
        owner.execute(_SOURCE, {"rows": rows})
        copy = best(lambda: copy_table(owner, "main.people"))
        yield from _against_copy(owner, "in memory", _IN_MEMORY, copy)
        yield from _against_numpy(owner)
        yield from _udf(owner)
    yield from _larger_than_memory(2 * rows)


def _create(owner: Owner, columns: str, options: str = "") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE research.people FROM main.people ({columns}) {options}"
    )


def _against_copy(
    owner: Owner, where: str, bounds: dict[str, float | None] | dict[str, float], copy: float
) -> Iterator[Figure]:
    yield Figure(f"plain copy of 8 columns, {where}", copy, "s")
    for what, columns in _RELEASES.items():
        _create(owner, columns)
        released = best(lambda: copy_table(owner, "research.people"), times=2)
        yield Figure(f"{what} / plain copy, {where}", released / copy, "×", bounds[what])


def _against_numpy(owner: Owner) -> Iterator[Figure]:
    """The same five treatments, written well in pandas and numpy on columns already in memory."""
    frame = owner.sql("FROM main.people").df()
    edges = np.array([15.0, 30, 45, 60, 75, 90])
    cosine, sine = np.cos(0.3), np.sin(0.3)

    def by_hand() -> None:
        age = frame["age"].to_numpy(dtype=float)
        band = np.clip(np.searchsorted(edges, age, side="right") - 1, 0, 4)
        graded = band + 1 + (age - edges[band]) / 15
        graded[age == 90] = 5.999
        income = frame["income"].to_numpy()
        shifted = income.copy()
        for place in range(len(str(income.max())) - 1):
            unit = 10**place
            digit = income // unit % 10
            shifted += np.where(income >= 10 * unit, np.where(digit == 9, -9 * unit, unit), 0)
        codes, categories = frame["diagnosis"].factorize()
        aliases = np.array([f"Illness_{i}" for i in range(len(categories))], dtype=object)
        mapped = aliases[codes]
        scaled = frame["height"].to_numpy() * 1.7
        x, y = frame["weight"].to_numpy(), frame["pulse"].to_numpy()
        rotated = (x * cosine + y * sine, y * cosine - x * sine)
        assert len(graded) == len(shifted) == len(mapped) == len(scaled) == len(rotated[0])

    numpy_seconds = best(by_hand, times=2)
    _create(owner, _FIVE)
    ours = best(lambda: copy_table(owner, "research.people"))
    yield Figure("five treatments by hand in pandas and numpy", numpy_seconds, "s")
    yield Figure("five treatments, release / by hand", ours / numpy_seconds, "×", 1.0)


def _udf(owner: Owner) -> Iterator[Figure]:
    _create(owner, _FIVE)
    native = best(lambda: copy_table(owner, "research.people"))
    _create(owner, _FIVE, "WITH (execution = 'udf')")
    udf = best(lambda: copy_table(owner, "research.people"), times=2)
    yield Figure("Python functions / native SQL, five treatments", udf / native, "×", 6.0)


def _microaggregation(owner: Owner, rows: int) -> Iterator[Figure]:
    owner.execute(
        "CREATE OR REPLACE TABLE main.some AS SELECT id, weight + bmi / 1e6 AS weight, age, income,"
        " height, pulse, bmi, diagnosis FROM main.people LIMIT $rows",
        {"rows": rows},
    )
    create = (
        "CREATE OR REPLACE RELEASE research.some FROM main.some (id KEY AS keep(), age NEUTRAL,"
        " income NEUTRAL, height NEUTRAL, pulse NEUTRAL, bmi NEUTRAL, diagnosis NEUTRAL,"
        " weight SENSITIVE AS microaggregation(size => 5)) WITH (accept = ['identifying(income)'])"
    )
    made = best(lambda: owner.execute(create), times=2)
    copy = best(lambda: copy_table(owner, "main.some"))
    released = best(lambda: copy_table(owner, "research.some"))
    yield Figure(f"microaggregation of {rows / 1e6:g} M rows, CREATE RELEASE", made, "s", 2.0)
    yield Figure("microaggregation, view / plain copy", released / copy, "×", 3.0)


def _larger_than_memory(rows: int) -> Iterator[Figure]:
    with open_owner() as owner:
        file = Path(
            owner.sql(
                "SELECT path FROM duckdb_databases() WHERE database_name = 'ppdm_store'"
            ).fetchall()[0][0]
        ).with_name("people.parquet")
        owner.execute(_SOURCE, {"rows": rows})
        owner.execute(
            f"COPY main.people TO '{file}'; DROP TABLE main.people; SET memory_limit = '1GB'"
        )
        columns = _RELEASES["five treatments"]
        start = time.perf_counter()
        owner.execute(f"CREATE RELEASE research.people FROM '{file}' ({columns})")
        copy_table(owner, "research.people")
        seconds = time.perf_counter() - start
        yield Figure(f"{rows / 1e6:g} M rows of Parquet, memory limit 1 GB", seconds, "s")
