"""What leaves through GENERALIZE really has k persons and l values in every class.

Checked with plain Python on the written file, joined to the source by a row number that is
released beside it; the view shows the same.
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections import defaultdict
from typing import TYPE_CHECKING

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import PrivacyWarning

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

ROW = st.tuples(
    st.integers(0, 6),  # person: may repeat
    st.one_of(st.none(), st.integers(0, 9)),
    st.one_of(st.none(), st.sampled_from(["aa", "ab", "b"])),
    st.sampled_from(["u", "v"]),
    st.one_of(st.none(), st.sampled_from(["flu", "cold", "hiv"])),
)
CLASSES = tuple[object, ...]
LEVELS = {
    "VARCHAR": "CASE (hash(n) % 4)::INT WHEN 0 THEN NULL ELSE 'v' || (hash(n) % 4) END",
    "INT": "CASE (hash(n) % 4)::INT WHEN 0 THEN NULL ELSE hash(n) % 4 END",
    "DATE": "DATE '2020-01-01' + (hash(n) % 4)::INT",
}
"""Another sensitive column, made from the number of a row."""


@settings(
    max_examples=int(os.environ.get("PPDM_TABLES", "25")),  # `make soak`: 1,000
    # One database for all examples: each begins by dropping what the one before it made.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    rows=st.lists(ROW, min_size=4, max_size=25),
    k=st.integers(2, 3),
    diversity=st.integers(1, 2),
    alpha=st.sampled_from([None, 0.5, 0.8]),
    closeness=st.sampled_from([None, 0.2, 0.5]),
    types=st.tuples(
        st.sampled_from(["INT", "DOUBLE", "DECIMAL(5, 1)", "BIGINT"]),
        st.sampled_from(["VARCHAR", "INT", "DATE"]),
    ),
    percent=st.sampled_from([0, 30, 100]),
    when=st.sampled_from(["", "WHEN illness = 'hiv' OR illness = 'flu'"]),
    how=st.sampled_from(["loss = 'precision'", "loss = 'ilm'", "method = 'mondrian'"]),
    suppressed=st.sampled_from(["drop", "star"]),
    has_key=st.booleans(),
)
def test_every_class_that_leaves_reaches_its_targets(
    owner: Owner,
    tmp_path: Path,
    rows: list[tuple[object, ...]],
    k: int,
    diversity: int,
    alpha: float | None,
    closeness: float | None,
    types: tuple[str, str],
    percent: int,
    when: str,
    how: str,
    suppressed: str,
    has_key: bool,
) -> None:
    owner.execute(
        "DROP RELEASE IF EXISTS r;"
        f"CREATE OR REPLACE TABLE t (n INT, person INT, a {types[0]}, b VARCHAR, c VARCHAR,"
        f" illness VARCHAR, level {types[1]});"
        "CREATE OR REPLACE HIERARCHY halves AS RANGES (2, 4);"
        "CREATE OR REPLACE HIERARCHY letters AS SUPPRESS DIGITS RIGHT"
    )
    numbered = [[number, *row] for number, row in enumerate(rows)]
    owner.connection.executemany(
        f"INSERT INTO t SELECT *, {LEVELS[types[1]]} FROM (VALUES (?, ?, ?, ?, ?, ?)) v (n, p, a, b, c, i)",
        numbered,
    )
    targets = f"k = {k}" + (f", l(illness) = {diversity}" if diversity > 1 else "")
    targets += f", alpha(illness) <= {alpha}" if alpha is not None else ""
    targets += f", t(level) <= {closeness}" if closeness is not None else ""
    statement = (
        f"CREATE RELEASE r FROM t (n NEUTRAL, {'person KEY,' if has_key else ''}"
        " a QUASI, b QUASI, c QUASI AS mapping(prefix => 'C'), illness SENSITIVE,"
        " level SENSITIVE)"
        f" GENERALIZE a USING halves, b USING letters {when} UNTIL {targets}"
        f" SUPPRESS AT MOST {percent} PERCENT"
        f" WITH ({how}, suppressed = '{suppressed}', accept = ['linked_rows'])"
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            owner.execute(statement)
    except ppdm_sql.PpdmError as error:
        # Nothing to treat, too few, or out of reach: then nothing is there.
        if not error.what.startswith(("fewer than", "no row of the source", "no generalization")):
            raise
        assert owner.releases() == []
        return
    released = {row[0]: row[1:] for row in owner.execute("FROM r").fetchall()}
    assert published(owner, tmp_path) == released
    high = {
        number
        for number, (_, _, _, _, illness) in enumerate(rows)
        if not when or illness in ("hiv", "flu", None)
    }
    persons: dict[CLASSES, set[object]] = defaultdict(set)
    values: dict[CLASSES, set[object]] = defaultdict(set)
    pairs: dict[CLASSES, set[tuple[object, object]]] = defaultdict(set)
    stars = 0
    levels: dict[CLASSES, set[tuple[object, object]]] = defaultdict(set)
    for number, (a, b, c, illness, level) in released.items():
        person, raw_a, raw_b, _, raw_illness = rows[number]
        is_star = number in high and (a, b, c) == ("*", "*", None)
        assert illness == (None if is_star and illness is None else raw_illness)
        if number not in high:
            assert (a is None, b) == (raw_a is None, raw_b)
            assert raw_a is None or float(a) == raw_a
            continue
        if is_star and illness is None:  # such a row shows nothing sensitive
            stars += 1
            continue
        persons[a, b, c].add(person if has_key else number)
        values[a, b, c].add(illness)
        pairs[a, b, c].add((person if has_key else number, illness))
        levels[a, b, c].add((person if has_key else number, level))
    assert all(len(members) >= k for members in persons.values())
    assert all(len(found) >= diversity for found in values.values())
    if alpha is not None:
        for shown, members in persons.items():
            for value in values[shown]:
                holders = {person for person, what in pairs[shown] if what == value}
                assert len(holders) <= alpha * len(members) + 1e-9
    if closeness is not None:
        source = owner.execute("SELECT n, person, level FROM t").fetchall()
        whole = {(person if has_key else number, level) for number, person, level in source}
        order = sorted({level for _, level in whole}, key=lambda v: (v is not None, v))
        for found in levels.values():
            assert moved(found, whole, order, types[1] != "VARCHAR") <= closeness + 1e-9
    left_out = len(rows) - len(released) + stars
    assert left_out <= len(high) * percent / 100
    if suppressed == "star":
        assert len(released) == len(rows)


def moved(
    found: set[tuple[object, object]],
    whole: set[tuple[object, object]],
    order: list[object],
    is_ordered: bool,
) -> float:
    """Return the earth mover's distance of two distributions, by its definition."""
    here, there = (
        [sum(v == value for _, v in side) / len(side) for value in order] for side in (found, whole)
    )
    if not is_ordered:
        return sum(abs(p - q) for p, q in zip(here, there, strict=True)) / 2
    off = [sum(here[: i + 1]) - sum(there[: i + 1]) for i in range(len(order))]
    return sum(map(abs, off)) / max(len(order) - 1, 1)


def published(owner: Owner, folder: Path) -> dict[int, tuple[object, ...]]:
    """Return the rows of the file that PUBLISH writes, by their number."""
    file = folder / f"{uuid.uuid4().hex}.duckdb"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        owner.publish("r", to=file)
    with duckdb.connect(file, read_only=True) as client:
        rows = client.execute("FROM r").fetchall()
    file.unlink()
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row[1:] for row in rows}


def test_the_release_is_the_same_for_any_order_of_rows() -> None:
    shown = []
    for order in ("i", "-i", "hash(i)"):
        with ppdm_sql.connect(":memory:") as owner:
            owner.execute(
                "CREATE TABLE t AS SELECT i % 7 AS a, i % 5 AS b FROM range(60) r(i)"
                f" ORDER BY {order};"
                "CREATE RELEASE r FROM t (a QUASI, b QUASI) GENERALIZE a, b UNTIL k = 4"
                " SUPPRESS AT MOST 10 PERCENT"
            )
            shown.append(sorted(owner.execute("FROM r").fetchall()))
    assert shown[0] == shown[1] == shown[2]
