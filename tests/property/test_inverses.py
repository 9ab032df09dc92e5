"""The owner's way back: values exactly or to 1e-12, conditions to the same rows.

Releases are made once; the examples then fill the tables under them. A condition on released
values and its translation may differ only for rows whose released value lies within 1e-9 of the
threshold, and only where floating point is involved.
"""

from __future__ import annotations

import itertools
import math
import warnings
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PrivacyWarning
from ppdm_sql.treatments import TREATMENTS
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.treatment import Treatment
from tests.cases import cases
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
NO_WAY_BACK = {"noise", "mean_noise", "microaggregation", "suppress"}

doubles = st.one_of(
    st.floats(-1e9, 1e9), st.integers(-999, 999).map(float), st.floats(-1e200, 1e200)
)
usual = settings(
    max_examples=cases(50),
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow],
)


@dataclass(frozen=True)
class Column:
    """A type, the values it is tried on, and one of which a release can be made."""

    type: str
    arrow: pa.DataType
    values: st.SearchStrategy[Any]
    first: object = 12


DOUBLE = Column("DOUBLE", pa.float64(), doubles)
INTEGER = Column("INTEGER", pa.int32(), st.integers(-(2**31), 2**31 - 1) | st.integers(-99, 99))
BIGINT = Column("BIGINT", pa.int64(), st.integers(-(2**62), 2**62) | st.integers(-99, 99))
EVERY_BIGINT = Column("BIGINT", pa.int64(), st.integers(-(2**63), 2**63 - 1))
UTINYINT = Column("UTINYINT", pa.uint8(), st.integers(0, 255))
HUGEINT = Column("HUGEINT", pa.decimal128(38, 0), st.integers(-(10**37), 10**37))
DATE = Column("DATE", pa.date32(), st.dates(date(9, 1, 1), date(9990, 1, 1)), date(2020, 1, 1))
TIMESTAMP = Column(
    "TIMESTAMP",
    pa.timestamp("us"),
    st.datetimes(datetime(9, 1, 1), datetime(9990, 1, 1)),
    datetime(2020, 1, 1),
)
CENTS = Column(
    "DOUBLE", pa.float64(), st.integers(-(10**13), 10**13).map(lambda cents: cents / 100), 12.5
)


def of_decimal(digits: int, scale: int) -> Column:
    numbers = st.integers(-(10**digits) + 1, 10**digits - 1) | st.integers(-99, 99)
    values = numbers.map(lambda n: Decimal(n).scaleb(-scale))
    return Column(f"DECIMAL({digits},{scale})", pa.decimal128(digits, scale), values, Decimal("0"))


@dataclass(frozen=True)
class Rule:
    """A treatment on some columns."""

    treatment: str
    columns: tuple[Column, ...]
    is_exact: bool = False


GROUPS = {
    "digits": [
        Rule("bit_plus()", (UTINYINT,), is_exact=True),
        Rule("bit_minus()", (INTEGER,), is_exact=True),
        Rule("bit_plus()", (EVERY_BIGINT,), is_exact=True),
        Rule("bit_plus()", (of_decimal(18, 0),), is_exact=True),
        Rule("bit_plus(decimals => 2)", (CENTS,), is_exact=True),
    ],
    "digits of decimals": [
        Rule("bit_plus()", (of_decimal(9, 2),), is_exact=True),
        Rule("bit_minus()", (of_decimal(18, 9),), is_exact=True),
    ],
    "translation": [
        Rule("translation(by => -3)", (INTEGER,), is_exact=True),
        Rule("translation(by => 4000000000000000001)", (BIGINT,), is_exact=True),
        Rule("translation(by => 1000)", (DATE,), is_exact=True),
        Rule("translation(by => -366)", (TIMESTAMP,), is_exact=True),
        Rule("translation(by => [0.1, -1e6, 7])", (DOUBLE, of_decimal(9, 2), INTEGER)),
        Rule("translation()", (DOUBLE,)),
    ],
    "scaling": [
        Rule("scaling(by => 0.93)", (DOUBLE,)),
        Rule("scaling(by => -3)", (INTEGER,)),
        Rule("scaling(by => [-1e6, 1e-6])", (BIGINT, of_decimal(18, 9))),
        Rule("scaling()", (DOUBLE,)),
    ],
    "the widest integers": [
        Rule("translation(by => 5.5)", (HUGEINT,)),
        Rule("scaling(by => 2.5)", (HUGEINT,)),
    ],
    "rotation": [
        Rule("rotation(degrees => 13.7)", (DOUBLE, DOUBLE)),
        Rule("rotation(degrees => [100, -61.25])", (INTEGER, DOUBLE, of_decimal(9, 2))),
        Rule("rotation()", (DOUBLE,) * 4),
        Rule("rotation(degrees => [45, 1, 359])", (DOUBLE,) * 5),
    ],
    "hybrid": [
        Rule("hybrid(translation(2), scaling(-0.93))", (INTEGER, DOUBLE)),
        Rule("hybrid(rotation(30), rotation(30), scaling(by => 3))", (DOUBLE,) * 3),
        Rule("hybrid()", (DOUBLE,) * 4),
    ],
}


@dataclass(frozen=True)
class Treated:
    """A rule of a release: its place among the columns, its treatment, what that drew."""

    rule: Rule
    start: int
    treatment: Treatment
    drawn: Drawn = field(repr=False)

    @property
    def names(self) -> list[str]:
        return [f"c{self.start + at}" for at in range(len(self.rule.columns))]

    def own(self, row: Sequence[Any]) -> Sequence[Any]:
        return row[self.start : self.start + len(self.rule.columns)]

    def size(self, row: Sequence[Any]) -> float:
        """Return what rounding is measured by: the largest number that took part."""
        constants = [
            abs(float(value))
            for name, value in self.drawn.parameters.items()
            if name.startswith(("by_", "shift_")) and not isinstance(value, str)
        ]
        is_scaled = self.rule.treatment.startswith("scaling")
        moved = 0.0 if is_scaled else max(constants, default=0.0)
        return max([moved, *(abs(float(x)) for x in self.own(row) if x is not None)])

    def translated(self, operator: str, literal: float, index: int) -> str | None:
        columns = [exp.column(name, quoted=True) for name in self.names]
        tree = self.treatment.invert_condition(operator, literal, columns, self.drawn, index)
        return None if tree is None else to_sql(tree)


@dataclass(frozen=True)
class Made:
    """A table and its release."""

    owner: Owner
    table: str
    columns: tuple[Column, ...]
    treated: tuple[Treated, ...] = ()

    def rows(self) -> st.SearchStrategy[list[tuple[Any, ...]]]:
        row = st.tuples(*(st.none() | column.values for column in self.columns))
        return st.lists(row, min_size=1, max_size=8)

    def fill(self, rows: list[tuple[Any, ...]]) -> None:
        columns = {
            f"c{at}": pa.array([row[at] for row in rows], column.arrow)
            for at, column in enumerate(self.columns)
        }
        connection = self.owner.connection
        connection.execute(f"DELETE FROM {self.table}")
        ids = pa.array(range(len(rows)), pa.int32())
        connection.register("incoming", pa.table({"id": ids, **columns}))
        connection.execute(f"INSERT INTO {self.table} FROM temp.incoming")
        connection.unregister("incoming")

    def released(self) -> list[pa.Array]:
        """Return the released columns, and keep them in the table `seen`."""
        connection = self.owner.connection
        connection.execute(f"CREATE OR REPLACE TEMP TABLE seen AS FROM r.{self.table}")
        found = connection.sql("SELECT * EXCLUDE (id) FROM seen ORDER BY id").to_arrow_table()
        return [column.combine_chunks() for column in found.columns]

    def chosen(self, source: str, condition: str) -> set[int]:
        rows = self.owner.connection.execute(f"SELECT id FROM {source} WHERE {condition}")
        return {row for (row,) in rows.fetchall()}


def stored(owner: Owner, name: str) -> list[tuple[Treatment, Drawn]]:
    """Return the treatments of a release but for its first rule, and what each drew."""
    version = version_of(owner, name)
    bound = version.release
    drawn = version.parameters
    steps = [rule.steps[0] for rule in bound.rules[1:]]
    return [(step.treatment, drawn[step.slot]) for step in steps]


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


@pytest.fixture(scope="module", params=GROUPS)
def made(shared: Owner, request: pytest.FixtureRequest) -> Made:
    """A table with its release, made of one harmless row."""
    rules = GROUPS[request.param]
    columns = tuple(column for rule in rules for column in rule.columns)
    bare = Made(shared, f"t{[*GROUPS].index(request.param)}", columns)
    types = ", ".join(f"c{at} {column.type}" for at, column in enumerate(columns))
    shared.execute(f"CREATE TABLE {bare.table} (id INTEGER, {types})")
    bare.fill([tuple(column.first for column in columns)])
    starts = [0, *itertools.accumulate(len(rule.columns) for rule in rules)]
    written = ", ".join(
        f"({', '.join(f'c{start + at}' for at in range(len(rule.columns)))})"
        f" SENSITIVE AS {rule.treatment}"
        for rule, start in zip(rules, starts, strict=False)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)  # zero has one digit
        shared.execute(f"CREATE RELEASE r.{bare.table} FROM {bare.table} (id NEUTRAL, {written})")
    treated = []
    for rule, start, (treatment, drawn) in zip(
        rules, starts, stored(shared, f"r.{bare.table}"), strict=False
    ):
        assert treatment.inverts
        treated.append(Treated(rule, start, treatment, drawn))
    return replace(bare, treated=tuple(treated))


@given(st.data())
@usual
def test_values_come_back(made: Made, data: st.DataObject) -> None:
    rows = data.draw(made.rows())
    made.fill(rows)
    released = made.released()
    for one in made.treated:
        outputs = list(one.own(released))
        back = one.treatment.invert(outputs, one.drawn)
        assert len(back) == len(outputs)
        for at, column in enumerate(back):
            ys = outputs[at].to_pylist()
            for row, y, found in zip(rows, ys, column.to_pylist(), strict=True):
                x = one.own(row)[at]
                if y is None:
                    assert found is None
                elif one.rule.is_exact:
                    assert found == x, (one.rule.treatment, one.own(row), y, found)
                elif found is not None:  # else a partner is missing to turn it back with
                    near = 1e-12 * one.size(row) + 1e-300
                    assert abs(found - float(x)) <= near, (one.rule.treatment, row, y, found)


@given(st.data())
@usual
def test_conditions_choose_the_same_rows(made: Made, data: st.DataObject) -> None:
    rows = data.draw(made.rows())
    made.fill(rows)
    released = made.released()
    for one in made.treated:
        index = data.draw(st.integers(0, len(one.rule.columns) - 1))
        ys = one.own(released)[index].to_pylist()
        numbers = [y for y in ys if isinstance(y, int | float | Decimal)]
        threshold = data.draw(st.integers(-1000, 1000) | st.sampled_from(numbers or [0]))
        literal = threshold if isinstance(threshold, int) else float(threshold)
        operator = data.draw(st.sampled_from(OPERATORS))
        condition = one.translated(operator, literal, index)
        if condition is None:
            continue
        there = made.chosen("seen", f"c{one.start + index} {operator} {literal!r}")
        for row in there ^ made.chosen(made.table, condition):
            told = (one.rule.treatment, one.own(rows[row]), ys[row], operator, literal, condition)
            assert not (one.rule.is_exact and isinstance(literal, int)), told
            assert ys[row] is not None, told
            scale = max(one.size(rows[row]), abs(float(ys[row])), abs(literal))
            assert abs(float(ys[row]) - literal) <= 1e-9 * scale, told


def test_every_operator_is_translated_or_only_equality(made: Made) -> None:
    """Order is kept by all but the digits, and dates have no literals of their own yet."""
    for one in made.treated:
        told = {op for op in OPERATORS if one.translated(op, 5, 0) is not None}
        if one.rule.treatment.startswith("bit_"):
            assert told <= {"=", "<>"}
        elif one.rule.columns[0].type in ("DATE", "TIMESTAMP"):
            assert told == set()
        else:
            assert told == set(OPERATORS)


def test_nulls_come_back_as_nulls_and_no_rows_as_no_rows(made: Made) -> None:
    for rows in ([tuple(None for _ in made.columns)] * 2, []):
        made.fill(rows)
        released = made.released()
        for one in made.treated:
            back = one.treatment.invert(list(one.own(released)), one.drawn)
            assert [column.to_pylist() for column in back] == [[None] * len(rows)] * len(back)


def test_exactness_is_what_the_classes_say() -> None:
    words = {rule.treatment.partition("(")[0] for rules in GROUPS.values() for rule in rules}
    for treatment in TREATMENTS:
        if treatment.keyword.startswith("bit_"):
            assert treatment.exactness is Exactness.EXACT
        elif treatment.keyword in words:
            assert treatment.exactness is Exactness.NEAR


@pytest.mark.parametrize("keyword", sorted(NO_WAY_BACK))
def test_some_treatments_have_no_way_back(keyword: str) -> None:
    (treatment,) = (found for found in TREATMENTS if found.keyword == keyword)
    assert treatment.exactness is Exactness.NONE
    assert treatment.invert is Treatment.invert
    assert treatment.invert_condition is Treatment.invert_condition


def test_no_instance_without_a_way_back_passes_for_one_with(shared: Owner) -> None:
    shared.execute("CREATE TABLE plain AS SELECT i AS id, i AS x FROM range(1, 20) AS r (i)")
    for treatment in (
        "noise(normal(0, 9))",
        "mean_noise()",
        "microaggregation(size => 3)",
        "suppress()",
    ):
        shared.execute(
            f"CREATE OR REPLACE RELEASE r.plain FROM plain (id KEY, x SENSITIVE AS {treatment})"
        )
        ((found, _),) = stored(shared, "r.plain")
        assert found.keyword in NO_WAY_BACK
        assert not found.inverts


def test_a_drawn_constant_is_read_back_from_the_store_to_the_bit(shared: Owner) -> None:
    shared.execute("CREATE TABLE kept AS SELECT i AS id, i / 3 AS x FROM range(50) AS r (i)")
    shared.execute(
        "CREATE OR REPLACE RELEASE r.kept FROM kept (id NEUTRAL, x SENSITIVE AS scaling())"
    )
    ((treatment, drawn),) = stored(shared, "r.kept")
    by = drawn.parameters["by_0"]
    rows = shared.sql("SELECT k.x, r.x FROM kept k JOIN r.kept r USING (id)").fetchall()
    assert isinstance(by, float)
    assert all(math.isclose(y, x * by, rel_tol=0, abs_tol=0) for x, y in rows)
    assert treatment.inverts
