"""Random tables about the same persons: what a study promises is counted on the file by Python."""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import ppdm_sql
from ppdm_sql.errors import PrivacyWarning, Refused
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

PERSONS = st.integers(0, 30)
ONE = st.lists(st.tuples(PERSONS, st.integers(0, 3), st.integers(0, 2)), min_size=20, max_size=60)
MANY = st.lists(
    st.tuples(st.one_of(st.none(), PERSONS), st.integers(0, 2), st.integers(0, 2)),
    min_size=20,
    max_size=90,
)
TARGETS = st.sampled_from(
    ["", ", l(ill) = 2", ", entropy_l(ill) = 1.5", ", recursive_l(ill, 3) = 2", ", t(ill) <= 0.6",
     ", alpha(ill) <= 0.8"]
)  # fmt: skip


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def shown(file: str, tables: tuple[str, ...]) -> dict[Any, list[Any]]:
    """What each person shows in some tables, from the file alone."""
    rows: dict[Any, list[Any]] = defaultdict(list)
    with duckdb.connect(file, read_only=True) as connection:
        for table in tables:
            for person, value in connection.execute(f"SELECT id, age FROM r.{table}").fetchall():
                rows[person].append((table, value))
    return {person: sorted(each, key=repr) for person, each in rows.items()}


@settings(max_examples=cases(60))
@given(ONE, MANY, TARGETS, st.integers(2, 3), st.integers(2, 3), st.sampled_from(["drop", "star"]))
def test_every_table_and_all_together_keep_their_targets(
    shared: Owner,
    tmp_path_factory: pytest.TempPathFactory,
    one: list[tuple[int, int, int]],
    many: list[tuple[int | None, int, int]],
    target: str,
    k: int,
    across: int,
    suppressed: str,
) -> None:
    folder: Path = tmp_path_factory.mktemp("study")
    file = str(folder / "study.duckdb")
    shared.execute(
        "DROP STUDY IF EXISTS s; DROP RELEASE IF EXISTS r.one; DROP RELEASE IF EXISTS r.many"
    )
    shared.execute("CREATE OR REPLACE TABLE one (id INTEGER, age INTEGER, ill INTEGER)")
    shared.execute("CREATE OR REPLACE TABLE many (id INTEGER, age INTEGER, ill INTEGER)")
    for table, rows in (("one", list({row[0]: row for row in one}.values())), ("many", many)):
        shared.connection.executemany(
            f"INSERT INTO {table} VALUES (?, ?, ?)", [list(r) for r in rows]
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrivacyWarning)
            for table in ("one", "many"):
                accept = "accept = ['linked_rows', 'noise_averages']"
                shared.execute(
                    f"CREATE RELEASE r.{table} FROM {table} (id KEY OF person AS pseudonym(),"
                    f" age QUASI, ill SENSITIVE) GENERALIZE age UNTIL k = {k}{target}"
                    f" SUPPRESS AT MOST 80 PERCENT WITH (suppressed = '{suppressed}', {accept})"
                )
            shared.execute(
                f"CREATE STUDY s OF r.one, r.many PERSON person UNTIL k = {across}"
                " SUPPRESS AT MOST 99 PERCENT"
            )
            shared.publish_study("s", to=file, recipient="a")
    except Refused as error:
        event(error.code)
        if error.code in ("target_missed", "too_few_persons"):
            return
        raise
    event("published")
    both = shown(file, ("one", "many"))
    assert min(Counter(map(str, both.values())).values()) >= across
    for table in ("one", "many"):
        alone: dict[Any, set[Any]] = defaultdict(set)
        for person, each in shown(file, (table,)).items():
            for _, value in each:
                alone[value].add(person)
        assert all(len(persons) >= k for value, persons in alone.items() if value != "*")


LABS = st.lists(
    st.tuples(st.integers(0, 14), st.integers(0, 2), st.integers(0, 2)), min_size=10, max_size=60
)


@settings(max_examples=cases(45))
@given(LABS, st.integers(2, 3))
def test_persons_are_alike_only_where_their_joined_rows_are(
    shared: Owner,
    tmp_path_factory: pytest.TempPathFactory,
    labs: list[tuple[int, int, int]],
    k: int,
) -> None:
    """Visits 0 to 29 of persons 0 to 14, each lab of a visit: compared with a join of the file."""
    file = str(tmp_path_factory.mktemp("study") / "study.duckdb")
    shared.execute(
        "DROP STUDY IF EXISTS j; DROP RELEASE IF EXISTS j.visits; DROP RELEASE IF EXISTS j.labs"
    )
    shared.execute(
        "CREATE OR REPLACE TABLE visits AS SELECT i AS visit, i // 2 AS id, i % 2 AS ward FROM range(30) t(i)"
    )
    shared.execute("CREATE OR REPLACE TABLE labs (visit INTEGER, test INTEGER)")
    rows = [[2 * person + which % 2, test] for person, which, test in labs]
    shared.connection.executemany("INSERT INTO labs VALUES (?, ?)", rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        shared.execute(
            "CREATE RELEASE j.visits FROM visits (visit NEUTRAL AS pseudonym(),"
            " id KEY OF person AS pseudonym(), ward QUASI);"
            "CREATE RELEASE j.labs FROM labs (visit KEY REFERENCES visits (visit) AS pseudonym(), test QUASI);"
            f"CREATE STUDY j OF j.visits, j.labs PERSON person UNTIL k = {k} SUPPRESS AT MOST 99 PERCENT"
        )
        try:
            shared.publish_study("j", to=file, recipient="a")
        except Refused as error:
            if error.code in ("target_missed", "too_few_persons"):
                return
            raise
    with duckdb.connect(file, read_only=True) as connection:
        joined = connection.execute(
            "SELECT v.id, v.visit, v.ward, l.test FROM j.visits AS v LEFT JOIN j.labs AS l USING (visit)"
        ).fetchall()
    by_visit: dict[tuple[Any, Any, Any], list[Any]] = defaultdict(list)
    for person, visit, ward, test in joined:
        by_visit[person, visit, ward].append(test)
    persons: dict[Any, list[Any]] = defaultdict(list)
    for (person, _, ward), tests in by_visit.items():
        persons[person].append((ward, sorted(tests, key=repr)))
    assert min(Counter(str(sorted(each, key=repr)) for each in persons.values()).values()) >= k
