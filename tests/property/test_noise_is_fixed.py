"""The noise of a row is one number for ever: however, wherever and how often it is asked for.

Analysts who could make it vary would average it away. The column `zero` holds nothing but zeros,
so what is released of it is the noise itself.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import ppdm_sql
from tests.cases import cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.owner import Owner

COUNT = 5_000
NOISE = "noise(normal(0, 10), round => false)"
TABLE = f"""
CREATE SCHEMA clinic;
CREATE TABLE clinic.people AS
    SELECT i AS id, 0.0::DOUBLE AS zero, 0.0::DOUBLE AS other, (i * 37 % 101)::DOUBLE AS x
    FROM range({COUNT}) AS r (i);
"""
usual = settings(
    max_examples=cases(50),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """An owner with people, and the release `r.first` whose noise the others must repeat."""
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(TABLE)
        release(owner, "r.first", "clinic.people")
        yield owner


def release(
    owner: Owner, name: str, source: str, column: str = "zero", key: str = "id", noise: str = NOISE
) -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE {name} FROM {source}"
        f" ({key} KEY AS keep(), {column} SENSITIVE AS {noise})"
    )


def noise(owner: Owner, name: str = "r.first", more: str = "") -> dict[Any, Any]:
    """Return what a release of two columns says, by key."""
    return dict(owner.connection.execute(f"FROM {name} {more}").fetchall())


def test_asking_twice(shared: Owner) -> None:
    first = noise(shared)
    assert len(set(first.values())) == COUNT
    assert noise(shared) == first


@pytest.mark.parametrize(
    "more", ["ORDER BY id DESC", "ORDER BY zero", "ORDER BY hash(id)", "LIMIT 7 OFFSET 4000"]
)
def test_in_any_order(shared: Owner, more: str) -> None:
    assert noise(shared, more=more).items() <= noise(shared).items()


@given(st.sets(st.integers(0, COUNT - 1), max_size=30), st.integers(1, 50))
@usual
def test_under_any_filter(shared: Owner, ids: set[int], step: int) -> None:
    first = noise(shared)
    listed = ", ".join(map(str, ids)) or "NULL"
    found = noise(shared, more=f"WHERE id IN ({listed}) OR id % {step} = 0")
    assert found == {i: e for i, e in first.items() if i in ids or i % step == 0}


def test_on_any_number_of_threads(shared: Owner) -> None:
    """Enough rows that two threads share them: DuckDB hands out 122,880 at a time."""
    shared.execute(
        "CREATE OR REPLACE TABLE clinic.many AS"
        " SELECT i AS id, 0.0::DOUBLE AS zero FROM range(300_000) AS r (i)"
    )
    release(
        shared, "r.many", "clinic.many", noise="noise(normal(0, 10), rho => 50, round => false)"
    )
    try:
        for threads in (1, 2):
            shared.execute(
                f"SET threads = {threads};"
                f"CREATE OR REPLACE TEMP TABLE seen_{threads} AS FROM r.many"
            )
    finally:
        shared.execute("RESET threads")
    both = "SELECT count(*), count(DISTINCT zero) FROM seen_1 JOIN seen_2 USING (id, zero)"
    ((rows, different),) = shared.sql(both).fetchall()
    assert rows == 300_000
    assert 140_000 < different < 160_000, "half of the rows have noise, each its own"


def test_inside_other_queries(shared: Owner) -> None:
    first = noise(shared)
    joined = "SELECT a.id, b.zero FROM r.first a JOIN r.first b USING (id)"
    assert dict(shared.sql(joined).fetchall()) == first
    ((total, largest),) = shared.sql("SELECT sum(zero), max(zero) FROM r.first").fetchall()
    assert total == pytest.approx(math.fsum(first.values()), abs=1e-6)
    assert largest == max(first.values())


def test_after_a_refresh_and_after_being_replaced(shared: Owner) -> None:
    first = noise(shared)
    shared.execute("REFRESH RELEASE r.first")
    assert noise(shared) == first
    release(shared, "r.first", "clinic.people")
    assert noise(shared) == first


SOURCES = {
    "the table": "clinic.people",
    "the table by its whole name": "ppdm_store.clinic.people",
    "the table in capitals": '"CLINIC"."PEOPLE"',
    "a view": "clinic.seen",
    "a view of a view": "clinic.seen_twice",
    "a SELECT": "(SELECT id, zero FROM clinic.people)",
    "a SELECT of everything": "(SELECT * FROM clinic.people WHERE id >= 0)",
    "a SELECT from a view": "(SELECT v.* FROM clinic.seen AS v ORDER BY v.id)",
    "a SELECT within a SELECT": "(SELECT * FROM (SELECT id, zero FROM clinic.people) AS i)",
    "a join": "(SELECT p.id, p.zero FROM clinic.people p JOIN clinic.people q ON p.id = q.id)",
}


@pytest.mark.parametrize("source", SOURCES)
def test_in_a_second_release_from_anywhere(shared: Owner, source: str) -> None:
    shared.execute(
        "CREATE OR REPLACE VIEW clinic.seen AS SELECT id, zero FROM clinic.people;"
        "CREATE OR REPLACE VIEW clinic.seen_twice AS FROM clinic.seen"
    )
    release(shared, "r.second", SOURCES[source])
    assert noise(shared, "r.second") == noise(shared)


def test_under_another_name(shared: Owner) -> None:
    source = "(SELECT id AS number, zero AS value FROM clinic.people)"
    release(shared, "r.second", source, "value", "number")
    assert noise(shared, "r.second") == noise(shared)


def test_with_the_key_released_as_a_pseudonym_or_not_at_all(shared: Owner) -> None:
    """The row key is the original one."""
    expected = sorted(noise(shared).values())
    for key in ("id KEY AS pseudonym()", "id KEY"):
        shared.execute(
            f"CREATE OR REPLACE RELEASE r.second FROM clinic.people ({key}, zero SENSITIVE AS {NOISE})"
        )
        found = shared.sql("SELECT zero FROM r.second").fetchall()
        assert sorted(e for (e,) in found) == expected


def test_beside_other_columns_and_in_a_group(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE RELEASE r.second FROM clinic.people (x NEUTRAL, id KEY AS keep(),"
        " (other, zero) SENSITIVE AS noise(uniform(0, 1), normal(0, 10), round => false))"
    )
    found = dict(shared.sql("SELECT id, zero FROM r.second").fetchall())
    assert found == noise(shared)


def test_by_either_execution(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE RELEASE r.second FROM clinic.people"
        f" (id KEY AS keep(), zero SENSITIVE AS {NOISE}) WITH (execution = 'udf')"
    )
    # DuckDB's logarithm and that of numpy differ in the last bit, now and then.
    assert noise(shared, "r.second") == pytest.approx(noise(shared), rel=1e-14)


@pytest.mark.parametrize(
    "before", ["scaling(by => 3)", "scaling(by => 3) THEN translation(by => 5)", "keep()"]
)
def test_in_later_stages_too(shared: Owner, before: str) -> None:
    """The row key survives treatments that come first."""
    chain = f"{before} THEN {NOISE}"
    release(shared, "r.second", "clinic.people", noise=chain)
    second = noise(shared, "r.second")
    assert len(set(second.values())) == COUNT
    assert noise(shared, "r.second", "WHERE id % 3 = 0 ORDER BY id DESC").items() <= second.items()
    release(shared, "r.third", "(SELECT * FROM clinic.people ORDER BY id DESC)", noise=chain)
    assert noise(shared, "r.third") == second


def test_before_other_treatments(shared: Owner) -> None:
    release(shared, "r.second", "clinic.people", noise=f"{NOISE} THEN scaling(by => 2)")
    assert noise(shared, "r.second") == {i: 2 * e for i, e in noise(shared).items()}


@given(st.dictionaries(st.integers(0, COUNT - 1), st.integers(-1000, 1000), min_size=1))
@usual
def test_whatever_the_values_and_the_other_rows_are(shared: Owner, values: dict[int, int]) -> None:
    """Rows come, go and change their values: a value that stays keeps its noise, another has none
    of it; one noise a person stays whatever the value is."""
    first = noise(shared)
    release(shared, "r.person", "clinic.people", noise=NOISE.replace(", r", ", per => 'person', r"))
    by_person = noise(shared, "r.person")
    table = pa.table({"id": [*values], "zero": [float(x) for x in values.values()]})
    connection = shared.connection
    connection.execute("BEGIN")
    try:
        connection.execute("DELETE FROM clinic.people")
        connection.register("incoming", table)
        connection.execute(
            "INSERT INTO clinic.people (id, zero) SELECT id, zero FROM temp.incoming"
        )
        found = noise(shared)
        assert all((found[i] - x == first[i]) == (x == 0) for i, x in values.items())
        assert noise(shared, "r.person") == {i: x + by_person[i] for i, x in values.items()}
    finally:
        connection.unregister("incoming")
        connection.execute("ROLLBACK")
    assert noise(shared) == first


def test_in_a_store_that_was_closed_and_opened_again(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(TABLE)
        release(owner, "r.first", "clinic.people")
        first = noise(owner)
    with ppdm_sql.connect(safe) as owner:
        assert noise(owner) == first
        owner.execute("REFRESH RELEASE r.first")
        assert noise(owner) == first
        release(owner, "r.second", "(SELECT id, zero FROM clinic.people)")
        assert noise(owner, "r.second") == first


def test_another_store_has_other_noise(shared: Owner) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(TABLE)
        release(owner, "r.first", "clinic.people")
        found = noise(owner)
    first = noise(shared)
    assert not set(found.values()) & set(first.values())
    a, b = (np.array([e for _, e in sorted(part.items())]) for part in (found, first))
    # Five standard deviations: fails by chance once in 1.7 million runs.
    assert abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(COUNT) < 5


def test_another_column_has_other_noise(shared: Owner) -> None:
    release(shared, "r.second", "clinic.people", "other")
    first, found = noise(shared), noise(shared, "r.second")
    assert not set(found.values()) & set(first.values())
    a, b = (np.array([e for _, e in sorted(part.items())]) for part in (found, first))
    assert abs(np.corrcoef(a, b)[0, 1]) * math.sqrt(COUNT) < 5


def test_text_keys_are_as_lasting(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE clinic.named AS"
        " SELECT 'P-' || i AS id, 0.0 AS zero FROM range(500) AS r (i);"
        "CREATE OR REPLACE VIEW clinic.named_seen AS SELECT * FROM clinic.named"
    )
    release(shared, "r.named", "clinic.named")
    first = noise(shared, "r.named")
    assert len(set(first.values())) == 500
    assert noise(shared, "r.named", "WHERE id < 'P-3' ORDER BY id DESC").items() <= first.items()
    release(shared, "r.again", "clinic.named_seen")
    assert noise(shared, "r.again") == first


@pytest.mark.parametrize(
    "second",
    [
        "noise(normal(0, 20))",
        "noise(normal(5, 10))",
        "scaling(by => 2) THEN noise(normal(0, 10))",
    ],
)
def test_two_releases_that_differ_do_not_give_the_values_away(shared: Owner, second: str) -> None:
    """Of x + e and x + 2e, x is twice the first minus the second: to the last digit.

    Nothing may be gained by comparing releases. Where two differ in more than a shift, their noise
    must not be one draw read twice: the best straight line through both must leave x uncertain.
    """
    release(shared, "r.one", "clinic.people", "x")
    release(shared, "r.two", "clinic.people", "x", noise=second)
    rows = shared.sql(
        "SELECT one.x, two.x, p.x FROM r.one one JOIN r.two two USING (id)"
        " JOIN clinic.people p USING (id)"
    ).fetchall()
    one, two, x = np.array(rows).T
    guesses = np.stack([one, two, np.ones(len(x))], axis=1)
    weights, *_ = np.linalg.lstsq(guesses, x, rcond=None)
    error = (guesses @ weights - x).std()
    # One release alone leaves about 9.5, two with unrelated noise about 7.
    assert error > 4
