"""mapping(): aliases in a random order, a table that stays with the owner, a way back."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PrivacyWarning, TreatmentError
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.mapping import Mapping
from ppdm_sql.treatments.protocol import InputColumn
from ppdm_sql.types import ColumnType
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def fill(owner: Owner, values: Sequence[object], type_: str = "VARCHAR") -> None:
    owner.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, x {type_})")
    add(owner, values)


def add(owner: Owner, values: Sequence[object]) -> None:
    if values:
        owner.connection.execute(
            "INSERT INTO t SELECT (SELECT count(*) FROM t) + generate_subscripts($1, 1), unnest($1)",
            [[*values]],
        )


def release(owner: Owner, arguments: str = "") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id NEUTRAL, x SENSITIVE AS mapping({arguments}))"
        " WITH (accept = ['identifying(id)'])"
    )


def released(owner: Owner) -> list[str | None]:
    """Return the aliases by row number: a join may give rows in any order."""
    return [alias for (alias,) in owner.sql("SELECT x FROM r.t ORDER BY id").fetchall()]


def aliases_of(owner: Owner) -> dict[object, str]:
    rows = owner.sql("SELECT DISTINCT t.x, r.x FROM t JOIN r.t AS r USING (id)").fetchall()
    return {value: alias for value, alias in rows if value is not None}


def stored(owner: Owner) -> tuple[Mapping, Drawn]:
    """Return the treatment of x in the release r.t and what it drew."""
    version = version_of(owner, "r.t")
    bound = version.release
    step = bound.rules[-1].steps[0]
    assert isinstance(step.treatment, Mapping)
    return step.treatment, version.parameters[step.slot]


def make_numbers(owner: Owner, rows: int, distinct: int) -> None:
    """Make a table of texts, each of them about as often, and release it."""
    owner.execute(
        f"CREATE OR REPLACE TABLE t AS SELECT i AS id, (i * 7919 % {distinct})::VARCHAR AS x"
        f" FROM range({rows}) r(i)"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        release(owner)


class TestAliases:
    """What stands in the release."""

    def test_aliases_are_a_permutation_of_one_to_n(self, people: Owner) -> None:
        people.execute(
            "CREATE RELEASE r.p FROM clinic.people (illness SENSITIVE AS mapping(prefix => 'Ill'))"
        )
        found = people.sql("SELECT illness FROM r.p").fetchall()
        assert {alias for (alias,) in found} == {"Ill_1", "Ill_2", "Ill_3", None}

    def test_equal_values_share_an_alias_and_others_do_not(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV", "Flu", "Cancer", "HIV", "Flu"])
        release(shared)
        a, b, c, d, e, f = released(shared)
        assert (a, b) == (c, e)
        assert a == f
        assert len({a, b, d}) == 3

    def test_null_stays_null(self, shared: Owner) -> None:
        fill(shared, ["Flu", None, "HIV", None])
        release(shared)
        assert [alias is None for alias in released(shared)] == [False, True, False, True]

    def test_prefix_is_the_name_of_the_column_unless_it_is_given(self, shared: Owner) -> None:
        fill(shared, ["Flu"])
        release(shared)
        assert released(shared) == ["x_1"]
        release(shared, "'Illness'")
        assert released(shared) == ["Illness_1"]
        release(shared, "prefix => 'a''b_% \"ü'")
        assert released(shared) == ["a'b_% \"ü_1"]

    @pytest.mark.parametrize(
        ("values", "count"),
        [
            pytest.param(["a", "A", "a ", " a", ""], 5, id="case and spaces"),
            pytest.param(["é", "e\u0301"], 2, id="same letter, other code points"),
            pytest.param(["a\x00b", "a", "a\x00c"], 3, id="with a zero byte"),
            pytest.param(["x_1", "x_2", "NULL", "null"], 4, id="looking like aliases"),
            pytest.param(["🦆", "鴨", "بط", "\u202eabc"], 4, id="scripts of the world"),
            pytest.param(["'; DROP TABLE t; --", '"', "\\", "\n"], 4, id="quotes"),
            pytest.param(["z" * 100_000, "z" * 100_001], 2, id="long"),
        ],
    )
    def test_odd_texts_are_categories_of_their_own(
        self, shared: Owner, values: list[str], count: int
    ) -> None:
        fill(shared, [*values, *values])
        release(shared)
        found = released(shared)
        assert len(set(found)) == count
        assert found[: len(values)] == found[len(values) :]
        treatment, drawn = stored(shared)
        assert treatment.invert([pa.array(found)], drawn)[0].to_pylist() == [*values, *values]

    @pytest.mark.parametrize("distinct", [40, 6_000], ids=["few categories", "many categories"])
    def test_rows_keep_their_number_and_values(self, shared: Owner, distinct: int) -> None:
        make_numbers(shared, 20_000, distinct)
        found = released(shared)
        originals = [x for (x,) in shared.sql("SELECT x FROM t ORDER BY id").fetchall()]
        alias_of = dict(zip(originals, found, strict=True))
        assert set(alias_of.values()) == {f"x_{n + 1}" for n in range(distinct)}
        assert found == [alias_of[x] for x in originals]

    @pytest.mark.parametrize("distinct", [40, 6_000], ids=["few categories", "many categories"])
    def test_rows_keep_their_order(self, shared: Owner, distinct: int) -> None:
        make_numbers(shared, 20_000, distinct)
        rows = shared.sql("SELECT id, x FROM r.t").fetchall()
        assert [row[0] for row in rows] == [*range(20_000)]
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array([row[1] for row in rows])], drawn)
        assert originals.to_pylist() == [x for (x,) in shared.sql("SELECT x FROM t").fetchall()]

    def test_type_is_text_and_describe_says_what_undoes_it(self, shared: Owner) -> None:
        fill(shared, [1, 2], "INTEGER")
        release(shared)
        assert shared.sql("SELECT DISTINCT typeof(x) FROM r.t").fetchall() == [("VARCHAR",)]
        _, column = shared.describe("r.t")
        assert (column.type, column.inverse) == ("VARCHAR", "exact")
        assert column.undone_by == Mapping.undone_by

    def test_no_category_is_in_the_text_of_the_view(self, shared: Owner) -> None:
        fill(shared, ["quinsy"])
        release(shared, "'hidden_prefix'")
        (view,) = shared.sql("SELECT sql FROM duckdb_views() WHERE schema_name = 'r'").fetchall()
        for text in (view[0], shared.explain("r.t")):
            assert "quinsy" not in text
            assert "hidden_prefix" not in text

    @pytest.mark.parametrize("type_", ["VARCHAR", "INTEGER", "HUGEINT", "DATE"])
    @pytest.mark.parametrize("values", [[], [None, None]], ids=["empty", "all null"])
    def test_columns_without_values(self, shared: Owner, type_: str, values: list[None]) -> None:
        fill(shared, values, type_)
        release(shared)
        assert released(shared) == values
        add(shared, [None])
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared) == [*values, None]

    @pytest.mark.parametrize(
        ("type_", "value"), [("VARCHAR", "Flu"), ("INTEGER", 7), ("DATE", "2026-01-01")]
    )
    def test_first_values_come_after_the_release(
        self, shared: Owner, type_: str, value: object
    ) -> None:
        fill(shared, [], type_)
        release(shared)
        add(shared, [value])
        assert released(shared) == [None]
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared) == ["x_1"]

    def test_release_of_a_view_and_of_a_query(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV"])
        shared.execute(
            "CREATE OR REPLACE VIEW v AS SELECT x FROM t;"
            "CREATE OR REPLACE RELEASE r.v FROM v (x SENSITIVE AS mapping());"
            "CREATE OR REPLACE RELEASE r.q FROM (SELECT upper(x) AS x FROM t)"
            " (x SENSITIVE AS mapping())"
        )
        assert {a for (a,) in shared.sql("FROM r.v").fetchall()} == {"x_1", "x_2"}
        assert {a for (a,) in shared.sql("FROM r.q").fetchall()} == {"x_1", "x_2"}

    def test_execution_as_function_is_the_same_join(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV", None])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE AS mapping())"
            " WITH (execution = 'udf')"
        )
        assert sorted(alias or "" for alias in released(shared)) == ["", "x_1", "x_2"]

    def test_a_column_that_ignores_case_doubles_no_rows(self, shared: Owner) -> None:
        """For DuckDB they are one value; for a mapping they are two, letter by letter."""
        fill(shared, ["flu", "FLU", "hiv", "flu"], "VARCHAR COLLATE NOCASE")
        release(shared)
        a, b, c, d = released(shared)
        assert a == d
        assert len({a, b, c}) == 3


class TestRefresh:
    """New categories wait for the owner."""

    def test_a_new_category_is_null_until_refresh(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV"])
        release(shared)
        before = released(shared)
        add(shared, ["Mumps", "Flu"])
        assert released(shared) == [*before, None, before[0]]
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared) == [*before, "x_3", before[0]]

    def test_refresh_gives_new_aliases_to_new_categories_only(self, shared: Owner) -> None:
        fill(shared, [f"old {i}" for i in range(20)])
        release(shared)
        before = aliases_of(shared)
        add(shared, [f"new {i}" for i in range(15)])
        shared.execute("REFRESH RELEASE r.t")
        after = aliases_of(shared)
        assert {value: after[value] for value in before} == before
        new = {alias for value, alias in after.items() if value not in before}
        assert new == {f"x_{n}" for n in range(21, 36)}

    def test_a_category_that_went_away_keeps_its_alias(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV"])
        release(shared)
        flu = aliases_of(shared)["Flu"]
        shared.execute("UPDATE t SET x = 'Mumps' WHERE x = 'Flu'")
        shared.execute("REFRESH RELEASE r.t")
        assert flu not in released(shared)
        add(shared, ["Flu"])
        assert released(shared)[-1] == flu

    @pytest.mark.parametrize("type_", ["INTEGER", "HUGEINT", "DECIMAL(9,2)", "DATE", "UUID"])
    def test_refresh_knows_categories_of_every_type_again(self, shared: Owner, type_: str) -> None:
        values = {
            "DATE": ["2026-01-01", "2026-01-02"],
            "UUID": [f"550e8400-e29b-41d4-a716-44665544000{i}" for i in range(2)],
        }.get(type_, [1, 2])
        fill(shared, values, type_)
        release(shared)
        before = released(shared)
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared) == before

    def test_or_replace_draws_again(self, shared: Owner) -> None:
        """Fails by chance once in 40! times."""
        fill(shared, [f"{i}" for i in range(40)])
        release(shared)
        before = released(shared)
        release(shared)
        assert released(shared) != before


class TestOrder:
    """Aliases follow neither value, nor frequency, nor the order of rows.

    Drawn from the system's generator, so not repeatable; error rates are stated.
    """

    def test_aliases_follow_nothing_nor_do_rows_of_their_table(self) -> None:
        """Over many draws the mean rank correlation is normal; 6 deviations fail once in 5e8."""
        count, draws = 30, 400
        values = [f"v{i:02}" for i in range(count)]
        by_row = np.random.default_rng(1).permutation(count)
        by_frequency = np.random.default_rng(2).permutation(count)
        sums = dict.fromkeys(("value", "row", "frequency", "table", "table by row"), 0.0)
        for _ in range(draws):
            number, place = draw_numbers([values[i] for i in by_row])
            numbers = np.array([number[value] for value in values], dtype=np.float64)
            sums["value"] += rank_correlation(numbers, np.arange(count))
            sums["row"] += rank_correlation(numbers[by_row], np.arange(count))
            sums["frequency"] += rank_correlation(numbers[by_frequency], np.arange(count))
            places = np.array([place[value] for value in values], dtype=np.float64)
            sums["table"] += rank_correlation(numbers, places)
            sums["table by row"] += rank_correlation(places[by_row], np.arange(count))
        # The correlation of one draw has mean 0 and variance 1/(n-1).
        limit = 6 / math.sqrt((count - 1) * draws)
        assert {name: s / draws for name, s in sums.items() if abs(s / draws) > limit} == {}

    def test_every_category_gets_every_alias_as_often(self) -> None:
        """6 deviations of a binomial count, 25 counts: fails less than once in 2e7 runs."""
        draws, values = 2_000, ["a", "b", "c", "d", "e"]
        seen: Counter[tuple[str, int]] = Counter()
        for _ in range(draws):
            seen.update(draw_numbers(values)[0].items())
        spread = math.sqrt(draws * 0.2 * 0.8)
        assert len(seen) == 25
        assert all(abs(times - draws / 5) < 6 * spread for times in seen.values())

    def test_in_releases_the_most_frequent_is_first_no_more_often_than_others(
        self, shared: Owner
    ) -> None:
        """40 releases of 8 categories: 23 times or more happens by chance once in 1e11 runs."""
        shared.execute(
            "CREATE OR REPLACE TABLE t AS SELECT 10 * j + k AS id, 'v' || j AS x"
            " FROM range(8) a(j), range(8) b(k) WHERE k >= j ORDER BY id"
        )
        firsts: Counter[str] = Counter()
        for _ in range(40):
            release(shared)
            number = {alias: value for value, alias in aliases_of(shared).items()}
            firsts[str(number["x_1"])] += 1
        assert max(firsts.values()) < 23

    def test_alias_table_on_disk_is_in_neither_order(self, shared: Owner) -> None:
        """Fails by chance twice in 200! times."""
        fill(shared, [f"{i:03}" for i in range(200)])
        with pytest.warns(PrivacyWarning):
            release(shared)
        _, drawn = stored(shared)
        table = drawn.tables["aliases"]
        originals = table.column("original").to_pylist()
        numbers = [int(alias.split("_")[1]) for alias in table.column("released").to_pylist()]
        assert originals != sorted(originals)
        assert numbers != sorted(numbers)


def draw_numbers(categories: list[str]) -> tuple[dict[str, int], dict[str, int]]:
    """Draw aliases once; return the number of each category, and its row in the table."""
    treatment = mapping("VARCHAR")
    statistics = {"rows": len(categories), "categories": pa.array([categories])[0]}
    table = treatment.draw(statistics, RootKey(bytes(32)), None).tables["aliases"]
    originals = table.column("original").to_pylist()
    aliases = table.column("released").to_pylist()
    number = {o: int(a.removeprefix("x_")) for o, a in zip(originals, aliases, strict=True)}
    assert sorted(number.values()) == list(range(1, len(categories) + 1))
    return number, {original: row for row, original in enumerate(originals)}


def rank_correlation(
    a: np.ndarray[tuple[int], np.dtype[np.float64]],
    b: np.ndarray[tuple[int], np.dtype[np.int64]] | np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float:
    return float(np.corrcoef(a, b)[0, 1])


def mapping(type_: str) -> Mapping:
    column = InputColumn(Name("x"), ColumnType(type_), "column:x")
    return Mapping.from_call(TreatmentCall("mapping"), (column,))


class TestWarning:
    """A mapping that stands for single rows is no protection."""

    @pytest.mark.parametrize(
        ("distinct", "rows"), [(51, 51), (51, 101), (1000, 1001)], ids=lambda n: f"{n}"
    )
    def test_nearly_unique_warns(self, shared: Owner, distinct: int, rows: int) -> None:
        fill(shared, [f"secret {i % distinct}" for i in range(rows)])
        with pytest.warns(PrivacyWarning) as caught:
            release(shared)
        (message,) = (str(warning.message) for warning in caught)
        assert f"{distinct:,} categories in {rows:,} rows" in message
        assert "pseudonym()" in message
        assert "secret" not in message

    @pytest.mark.parametrize(
        ("distinct", "rows"), [(50, 50), (51, 102), (3, 1000), (1, 1)], ids=lambda n: f"{n}"
    )
    def test_small_or_often_repeated_does_not(
        self, shared: Owner, distinct: int, rows: int
    ) -> None:
        fill(shared, [f"{i % distinct}" for i in range(rows)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            release(shared)

    def test_nulls_count_neither_as_rows_nor_as_categories(self, shared: Owner) -> None:
        fill(shared, [*(f"{i}" for i in range(60)), *[None] * 1000])
        with pytest.warns(PrivacyWarning, match="60 categories in 60 rows"):
            release(shared)

    def test_refresh_warns_too(self, shared: Owner) -> None:
        fill(shared, ["a", "b"])
        release(shared)
        add(shared, [f"{i}" for i in range(100)])
        with pytest.warns(PrivacyWarning):
            shared.execute("REFRESH RELEASE r.t")


class TestRefused:
    """Columns and arguments it does not take."""

    @pytest.mark.parametrize(
        "type_",
        ["DOUBLE", "FLOAT", "BLOB", "TIME", "INTERVAL", "INTEGER[]", "STRUCT(a INTEGER)", "BIT"],
    )
    def test_types(self, shared: Owner, type_: str) -> None:
        fill(shared, [], type_)
        with pytest.raises(TreatmentError) as caught:
            release(shared)
        assert caught.value.what == f"mapping cannot treat 'x' of type {type_}"
        assert re.search(r"graded_grouping\(\)|cast it in the source", caught.value.hint or "")
        assert caught.value.span is not None
        assert caught.value.span.source == "mapping()"

    @pytest.mark.parametrize(
        ("arguments", "what"),
        [
            ("prefix => ''", "mapping: 'prefix' must be a text"),
            ("prefix => 5", "mapping: 'prefix' must be a text"),
            ("prefix => null", "mapping: 'prefix' must be a text"),
            ("prefix => ['a']", "mapping: 'prefix' must be a text"),
            ("'a', 'b'", "mapping: 'domain' must be a list of categories"),
            ("'a', ['b'], 'c'", "mapping takes 2 arguments"),
            ("domain => []", "mapping: 'domain' must be a list of categories"),
            ("domain => ['a', 1]", "mapping: the categories must be all texts or all numbers"),
            ("domain => [1.5]", "mapping: the categories must be all texts or all numbers"),
            ("domain => ['a', 'a']", "mapping: a category is listed twice"),
            ("prefx => 'a'", "unknown argument 'prefx' of mapping"),
        ],
    )
    def test_arguments(self, shared: Owner, arguments: str, what: str) -> None:
        fill(shared, ["Flu"])
        with pytest.raises(TreatmentError) as caught:
            release(shared, arguments)
        assert caught.value.what == what
        assert caught.value.span is not None

    def test_a_group_of_columns(self, people: Owner) -> None:
        with pytest.raises(TreatmentError, match="one column at a time"):
            people.execute(
                "CREATE RELEASE r.p FROM clinic.people ((illness, ward) SENSITIVE AS mapping())"
            )


class TestInverse:
    """The way back, for the owner alone."""

    def test_aliases_back_to_categories(self, shared: Owner) -> None:
        fill(shared, ["Flu", None, "HIV", "Flu"])
        release(shared)
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array(released(shared))], drawn)
        assert originals.to_pylist() == ["Flu", None, "HIV", "Flu"]

    def test_an_alias_that_is_none_gives_null(self, shared: Owner) -> None:
        fill(shared, ["Flu"])
        release(shared)
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array(["x_2", "Flu", "", None])], drawn)
        assert originals.to_pylist() == [None] * 4

    def test_aliases_of_a_dictionary_column_come_back_too(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV"])
        release(shared)
        treatment, drawn = stored(shared)
        (originals,) = treatment.invert([pa.array(released(shared)).dictionary_encode()], drawn)
        assert originals.to_pylist() == ["Flu", "HIV"]

    @pytest.mark.parametrize(
        ("type_", "values"),
        [
            ("VARCHAR", ["Flu", "it's", "\\", "", None]),
            ("INTEGER", [1, -2, None]),
            ("HUGEINT", [2**100, -(2**100), 0]),
            ("DECIMAL(20,3)", ["1.500", "-0.001"]),
            ("BOOLEAN", [True, False, None]),
            ("DATE", ["2026-01-01", "0001-01-01", "9999-12-31"]),
            ("TIMESTAMP", ["2026-01-01 12:00:00.123456"]),
            ("UUID", ["550e8400-e29b-41d4-a716-446655440000"]),
            ("ENUM('Flu', 'HIV')", ["HIV", "Flu", None]),
        ],
    )
    def test_conditions_select_the_same_rows(
        self, shared: Owner, type_: str, values: list[object]
    ) -> None:
        fill(shared, values, type_)
        release(shared)
        treatment, drawn = stored(shared)
        for alias in filter(None, set(released(shared))):
            for operator in ("=", "<>"):
                column = exp.column("x", table="t")
                condition = treatment.invert_condition(operator, alias, (column,), drawn)
                assert condition is not None
                wanted = shared.sql(
                    f"SELECT id FROM r.t WHERE x {operator} ? ORDER BY id",
                    [alias],
                ).fetchall()
                found = shared.sql(f"SELECT id FROM t WHERE {to_sql(condition)} ORDER BY id")
                assert found.fetchall() == wanted

    def test_dates_beyond_the_calendar_of_python_select_no_wrong_rows(self, shared: Owner) -> None:
        fill(shared, ["infinity", "-infinity", "0044-03-15 (BC)", "2026-01-01"], "DATE")
        release(shared)
        treatment, drawn = stored(shared)
        for row, alias in enumerate(released(shared)):
            assert alias is not None
            equal = treatment.invert_condition("=", alias, (exp.column("x"),), drawn)
            if equal is not None:
                found = shared.sql(f"SELECT id - 1 FROM t WHERE {to_sql(equal)}").fetchall()
                assert found == [(row,)]

    def test_a_category_that_waits_for_refresh_is_in_no_condition(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV"])
        release(shared)
        treatment, drawn = stored(shared)
        add(shared, ["Mumps"])
        flu = released(shared)[0]
        assert flu is not None
        condition = treatment.invert_condition("<>", flu, (exp.column("x"),), drawn)
        assert condition is not None
        found = shared.sql(f"SELECT x FROM t WHERE {to_sql(condition)}").fetchall()
        assert found == [("HIV",)]

    @pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "LIKE"])
    def test_aliases_have_no_order(self, shared: Owner, operator: str) -> None:
        fill(shared, ["Flu"])
        release(shared)
        treatment, drawn = stored(shared)
        assert treatment.invert_condition(operator, "x_1", (exp.column("x"),), drawn) is None

    def test_no_condition_for_an_alias_that_is_none(self, shared: Owner) -> None:
        fill(shared, ["Flu"])
        release(shared)
        treatment, drawn = stored(shared)
        assert treatment.invert_condition("=", "x_7", (exp.column("x"),), drawn) is None
        assert treatment.invert_condition("=", 7, (exp.column("x"),), drawn) is None

    def test_what_was_drawn_is_not_in_repr(self, shared: Owner) -> None:
        fill(shared, ["quinsy"])
        release(shared)
        treatment, drawn = stored(shared)
        assert "quinsy" not in repr(treatment)
        assert "quinsy" not in repr(drawn)


def test_a_moment_in_a_time_zone_is_refused_because_its_text_moves(owner: Owner) -> None:
    fill(owner, ["2026-01-01 12:00:00+00"], "TIMESTAMP WITH TIME ZONE")
    with pytest.raises(TreatmentError) as caught:
        release(owner)
    assert caught.value.what == "mapping cannot treat 'x' of type TIMESTAMP WITH TIME ZONE"


def test_aliases_do_not_depend_on_the_time_zone_of_the_session(owner: Owner) -> None:
    fill(owner, ["2026-01-01 12:00:00", "2026-07-01 12:00:00"], "TIMESTAMP")
    release(owner)
    before = released(owner)
    owner.execute("SET TimeZone = 'America/New_York'")
    assert released(owner) == before


class TestChains:
    """Before and after THEN."""

    def test_pseudonym_of_aliases(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV", "Flu", None])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE"
            " AS mapping() THEN pseudonym())"
        )
        a, b, c, d = released(shared)
        assert (a, d) == (c, None)
        assert a != b
        assert a is not None
        assert len(a) == 16

    def test_mapping_of_pseudonyms(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV", "Flu", None])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE"
            " AS pseudonym() THEN mapping('M'))"
        )
        a, b, c, d = released(shared)
        assert (a, d) == (c, None)
        assert {a, b} == {"M_1", "M_2"}

    def test_mapping_of_aliases(self, shared: Owner) -> None:
        fill(shared, ["Flu", "HIV", "Flu", None])
        shared.execute(
            "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE"
            " AS mapping('A') THEN mapping('B'))"
        )
        assert set(released(shared)) == {"B_1", "B_2", None}
        add(shared, ["Mumps"])
        assert released(shared)[-1] is None
        shared.execute("REFRESH RELEASE r.t")
        assert released(shared)[-1] == "B_3"


@pytest.mark.parametrize(
    ("type_", "domain", "rows"),
    [
        ("VARCHAR", "['a', 'b', 'it''s']", "'a', 'it''s', NULL"),
        ("INTEGER", "[1, 2, 3]", "1, 3"),
        ("BOOLEAN", "[true, false]", "true"),
        ("DATE", "['2020-01-31', '2020-02-01', '2020-02-02']", "'2020-01-31'"),
        ("DECIMAL(5, 2)", "['1.50', '2.00']", "1.50"),
    ],
)
def test_a_domain_names_all_its_categories(
    owner: Owner, type_: str, domain: str, rows: str
) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT unnest([{rows}])::{type_} AS c")
    owner.execute(
        f"CREATE RELEASE r FROM t (c SENSITIVE AS mapping(prefix => 'C', domain => {domain}))"
    )
    aliases = dict(owner.execute("FROM ppdm_owner.r1_v1_t0_0_aliases").fetchall())
    assert sorted(aliases.values()) == [f"C_{number}" for number in range(1, len(aliases) + 1)]
    assert len(aliases) == domain.count(",") + 1
    released = {alias for (alias,) in owner.execute("FROM r").fetchall()}
    assert released - {None} <= set(aliases.values())
    owner.execute("REFRESH RELEASE r")
    assert dict(owner.execute("FROM ppdm_owner.r1_v2_t0_0_aliases").fetchall()) == aliases


@pytest.mark.parametrize("type_", ["VARCHAR", "INTEGER"])
def test_what_is_not_in_the_domain_is_counted_and_refused(owner: Owner, type_: str) -> None:
    owner.execute(f"CREATE TABLE t AS SELECT unnest([1, 2, 3])::{type_} AS c")
    domain = "['1']" if type_ == "VARCHAR" else "[1]"
    with pytest.raises(TreatmentError, match="2 categories of 'c' are not in its domain"):
        owner.execute(f"CREATE RELEASE r FROM t (c SENSITIVE AS mapping(domain => {domain}))")


def test_a_domain_of_another_type_is_refused(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS c")
    with pytest.raises(TreatmentError, match="the domain does not fit 'c' of type INTEGER"):
        owner.execute("CREATE RELEASE r FROM t (c SENSITIVE AS mapping(domain => ['x']))")


def test_agreed_tokens_that_collide_are_refused(
    owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ppdm_sql.treatments.mapping._TOKEN", 1)
    owner.execute("CREATE TABLE t AS SELECT i::VARCHAR AS c FROM range(17) r (i)")
    owner.execute("CREATE AGREEMENT a (c SENSITIVE AS mapping())")
    with pytest.raises(TreatmentError, match="two categories of 'c' would share an alias"):
        owner.execute("CREATE RELEASE r FROM t (c SENSITIVE AS mapping()) WITH (agreement = 'a')")


def test_a_domain_that_does_not_fit_is_quoted_nowhere(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT 1 AS id, 5 AS x")
    with pytest.raises(TreatmentError, match="does not fit") as caught:
        owner.execute(
            "CREATE RELEASE r FROM t (id KEY, x NEUTRAL AS mapping(domain => ['Leprosy']))"
        )
    assert caught.value.__context__ is None
