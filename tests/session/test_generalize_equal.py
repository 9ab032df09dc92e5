"""What DuckDB holds equal is shown alike: classes are of what an analyst reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import BindError, Refused

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")

TABLE = """
CREATE TABLE t AS SELECT i AS id, 'z' || i % 3 AS q, {} AS f, i % 4 AS s FROM range(12) r(i);
"""
ODD = "CASE WHEN i % 6 = 0 THEN {} ELSE {} END"
NUMBERS = {
    "double": ODD.format("'-0.0'::DOUBLE", "0.0"),
    "float": ODD.format("'-0.0'::FLOAT", "0.0::FLOAT"),
    "rounded": ODD.format("round(-0.3::DOUBLE)", "round(0.3::DOUBLE)"),
    "nan": ODD.format("-('nan'::DOUBLE)", "'nan'::DOUBLE"),
}
OTHERS = {
    "interval": ODD.format("INTERVAL 1 MONTH", "INTERVAL 30 DAY"),
    "time with zone": ODD.format("'12:00:00+01'::TIMETZ", "'11:00:00+00'::TIMETZ"),
    "struct": f"{{'a': {NUMBERS['double']}}}",
    "list": "[i % 2]",
    "json": "'{}'::JSON",
    "variant": "i::VARIANT",
}


def shown(owner: Owner) -> list[tuple[str, str, int]]:
    """Return the classes of what is written, not of what DuckDB holds equal."""
    texts = "SELECT q::VARCHAR AS q, f::VARCHAR AS f, count(*) FROM r GROUP BY ALL ORDER BY ALL"
    return [(row[0], row[1], row[2]) for row in owner.execute(texts).fetchall()]


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("columns", ["q", "q, f"])
def test_numbers_that_are_equal_are_one_class(owner: Owner, values: str, columns: str) -> None:
    owner.execute(
        TABLE.format(values) + "CREATE RELEASE r FROM t (id KEY, q QUASI, f QUASI, s SENSITIVE)"
        f" GENERALIZE {columns} UNTIL k = 4, l(s) = 2"
    )
    assert {q: count for q, _, count in shown(owner)} == {"z0": 4, "z1": 4, "z2": 4}
    assert len(shown(owner)) == 3
    assert not any(f.startswith("-") for _, f, _ in shown(owner))


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("columns", ["q", "q, f"])
def test_rows_outside_the_high_class_show_them_alike_too(
    owner: Owner, values: str, columns: str
) -> None:
    owner.execute(
        TABLE.format(values) + "CREATE RELEASE r FROM t (id KEY, q QUASI, f QUASI, s SENSITIVE)"
        f" GENERALIZE {columns} WHEN id < 6 UNTIL k = 2 WITH (suppressed = 'star')"
    )
    assert sum(count for _, _, count in shown(owner)) == 12
    assert not any(f.startswith("-") for _, f, _ in shown(owner))


def test_a_treated_number_counts_as_it_leaves(owner: Owner) -> None:
    owner.execute(
        TABLE.format(NUMBERS["double"])
        + "CREATE RELEASE r FROM t (id KEY, q QUASI, f QUASI AS scaling(by => -2))"
        " GENERALIZE q UNTIL k = 4"
    )
    assert shown(owner) == [("z0", "0.0", 4), ("z1", "0.0", 4), ("z2", "0.0", 4)]


@pytest.mark.parametrize("values", OTHERS.values(), ids=OTHERS)
def test_a_type_that_shows_equal_values_apart_is_refused(owner: Owner, values: str) -> None:
    owner.execute(TABLE.format(values))
    with pytest.raises(BindError, match="'f', of type") as caught:
        owner.execute("CREATE RELEASE r FROM t (id KEY, q QUASI, f QUASI) GENERALIZE q UNTIL k = 4")
    assert caught.value.span is not None
    assert caught.value.span.source == "f QUASI"
    assert "cast it in a (SELECT …) source" in (caught.value.hint or "")


@pytest.mark.parametrize("values", OTHERS.values(), ids=OTHERS)
def test_such_a_column_may_be_suppressed_or_have_another_role(owner: Owner, values: str) -> None:
    owner.execute(
        TABLE.format(values) + "CREATE RELEASE r FROM t (id KEY, q QUASI, f QUASI AS suppress())"
        " GENERALIZE q UNTIL k = 4;"
        "CREATE RELEASE r2 FROM t (id KEY, q QUASI, f NEUTRAL) GENERALIZE q UNTIL k = 4"
    )
    assert owner.execute("SELECT count(*), count(f) FROM r").fetchall() == [(12, 0)]
    assert owner.execute("SELECT count(f) FROM r2").fetchall() == [(12,)]


def test_a_type_that_a_treatment_makes_plain_is_taken(owner: Owner) -> None:
    owner.execute(
        TABLE.format("TIMESTAMPTZ '2020-01-01 00:00:00+00'")
        + "CREATE RELEASE r FROM (SELECT id, q, f::VARCHAR AS f FROM t)"
        " (id KEY, q QUASI, f QUASI) GENERALIZE q UNTIL k = 4"
    )
    assert len(shown(owner)) == 3


def test_a_zero_with_a_sign_doubles_no_row(owner: Owner) -> None:
    """Grouped with other values, a zero is shown now with its sign and now without."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (['0.0', '-0.0'])[1 + i // 3 % 2]::DOUBLE AS x,"
        " (['a', 'b'])[1 + i // 3 % 2] AS s FROM range(60) r(i);"
        "CREATE RELEASE r FROM t (id KEY, x QUASI, s SENSITIVE)"
        " GENERALIZE x UNTIL k = 2, alpha(s) <= 0.5"
    )
    assert owner.execute("SELECT x, count(*) FROM r GROUP BY x").fetchall() == [("0.0", 60)]


@pytest.mark.parametrize("value", ["g", "other"])
def test_a_group_that_is_written_like_a_value_is_said(owner: Owner, value: str) -> None:
    """Regions that reach their targets show one text, and the class that they make does not."""
    owner.execute(
        "CREATE TABLE t AS SELECT * FROM (VALUES (1, 'a', 'Flu'), (2, 'b', 'HIV'),"
        f" (1, '{value}', 'HIV'), (3, '{value}', 'Flu'), (4, 'c', 'Flu'), (5, 'c', 'HIV'))"
        " v(id, x, s);"
        "CREATE HIERARCHY h AS TREE"
        f" (('a', 'g'), ('b', 'g'), ('c', 'u'), ('{value}', 'u'))"
    )
    release = (
        "CREATE RELEASE r FROM t (id KEY, x QUASI, s SENSITIVE)"
        " GENERALIZE x USING h UNTIL k = 2, alpha(s) <= 0.6 WITH (method = 'mondrian')"
    )
    if value == "other":
        owner.execute(release)
        return
    with pytest.raises(Refused, match="does not reach its targets") as caught:
        owner.execute(release)
    assert "a group of 'x' is written like another value" in (caught.value.hint or "")
    assert owner.releases() == []


def test_a_star_in_the_data_is_a_value(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (['*', 'a', 'b'])[1 + i % 3] AS q, i % 2 AS s"
        " FROM range(30) r(i); INSERT INTO t VALUES (30, 'c', 0);"
        "CREATE RELEASE r FROM t (id KEY, q QUASI, s SENSITIVE)"
        " GENERALIZE q UNTIL k = 2, l(s) = 2 SUPPRESS AT MOST 10 PERCENT"
        " WITH (suppressed = 'star')"
    )
    found = owner.execute("SELECT q, count(*) FROM r GROUP BY q ORDER BY q").fetchall()
    assert found == [("*", 11), ("a", 10), ("b", 10)]
