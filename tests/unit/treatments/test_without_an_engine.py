"""Treatments by themselves: what they draw and what their expressions refer to, through a scope
that only writes down what is asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease
from ppdm_sql.names import Name
from ppdm_sql.release.model import FORMULA
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments import TREATMENTS
from ppdm_sql.treatments.protocol import InputColumn
from ppdm_sql.types import ColumnType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ppdm_sql.parameters import Drawn
    from ppdm_sql.treatments.treatment import Treatment

OWN = RootKey(b"\1" * 32, "table:id", formula=FORMULA)
OTHER = RootKey(b"\2" * 32, "table:id", formula=FORMULA)
AGREED = RootKey(b"\3" * 32, "agreed:id", formula=FORMULA, is_agreed=True)
NUMBERS = pa.scalar([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], pa.list_(pa.float64()))
PAIRS = pa.scalar(
    [{"c0": float(i), "c1": float(i * i)} for i in range(8)],
    pa.list_(pa.struct({"c0": pa.float64(), "c1": pa.float64()})),
)
WORDS = pa.scalar(["a", "b", "c"], pa.list_(pa.string()))
COUNTED = pa.scalar([("a", 3), ("b", 1)], pa.map_(pa.string(), pa.int64()))
ROWS = pa.scalar(
    [{"row": at, "original": str(at * at)} for at in range(8)],
    pa.list_(pa.struct({"row": pa.int64(), "original": pa.string()})),
)
RANGE = {f"{end}_{at}": value for at in range(2) for end, value in (("low", 0), ("high", 90))}

# What is written, the types of its columns, and what the source says of them.
WRITTEN: dict[str, tuple[str, list[str], dict[str, Any]]] = {
    "keep": ("keep()", ["DOUBLE"], {}),
    "suppress": ("suppress()", ["DOUBLE"], {}),
    "graded_grouping": ("graded_grouping(bands => [0, 10, 40])", ["DOUBLE"], {}),
    "mapping": ("mapping()", ["VARCHAR"], {"categories": WORDS, "rows": 9}),
    "pseudonym": ("pseudonym(prefix => 'P-')", ["VARCHAR"], {}),
    "email": ("email(prefix => 'P-', at_least => 2)", ["VARCHAR"], {"addresses": WORDS}),
    "fake": ("fake('address')", ["VARCHAR"], {}),
    "encrypt": ("encrypt(keep_prefix => 2)", ["VARCHAR"], {}),
    "bit_plus": ("bit_plus()", ["INTEGER"], {}),
    "bit_minus": ("bit_minus()", ["INTEGER"], {}),
    "translation": ("translation()", ["DOUBLE", "DOUBLE"], RANGE),
    "date_shift": ("date_shift()", ["DATE", "TIMESTAMP WITH TIME ZONE"], {}),
    "truncate": ("truncate('month')", ["DATE", "TIMESTAMP"], {}),
    "age_at": ("age_at('2026-01-01')", ["DATE"], {}),
    "round": ("round(to => 5)", ["DOUBLE", "INTEGER"], {}),
    "random_round": ("random_round(to => 5)", ["DOUBLE", "INTEGER"], {}),
    "top_code": ("top_code(at => 90, shown => 'label')", ["DOUBLE"], {}),
    "bottom_code": ("bottom_code(percent => 5)", ["DOUBLE"], {"limit": 18.0}),
    "partial": ("partial(left => 2)", ["VARCHAR"], {}),
    "ip": ("ip(v4 => 16)", ["VARCHAR"], {}),
    "pram": ("pram(keep => 0.8)", ["VARCHAR"], {"categories": COUNTED}),
    "rank_swap": ("rank_swap(percent => 50)", ["DOUBLE"], {"rows": ROWS}),
    "shuffle": ("shuffle()", ["VARCHAR"], {"rows": ROWS}),
    "scaling": ("scaling()", ["DOUBLE", "DOUBLE"], {}),
    "rotation": ("rotation()", ["DOUBLE", "DOUBLE"], {}),
    "hybrid": ("hybrid()", ["DOUBLE", "DOUBLE"], RANGE),
    "noise": ("noise(normal(0, 3))", ["DOUBLE"], {}),
    "mean_noise": ("mean_noise()", ["DOUBLE"], {"values": NUMBERS}),
    "microaggregation": ("microaggregation(size => 2)", ["DOUBLE", "DOUBLE"], {"values": PAIRS}),
}
DRAWN_AT_RANDOM = [
    "translation",
    "scaling",
    "rotation",
    "hybrid",
    "mapping",
    "rank_swap",
    "shuffle",
]
DRAWN_ALIKE = [
    "scaling", "rotation", "mapping", "pseudonym", "encrypt", "noise", "date_shift", "random_round",
]  # fmt: skip
FACTS = {"groups", "smallest", "loss", "blocks", "mark"}
"""What microaggregation keeps for its note, and an exchange for the ledger."""


@dataclass
class Noted:
    """A scope that writes down what it is asked for."""

    parameters: set[str] = field(default_factory=set)
    tables: set[str] = field(default_factory=set)
    formula: int = FORMULA

    def parameter(self, name: str) -> exp.Expr:
        self.parameters.add(name)
        return exp.column(name, table="p")

    def let(self, value: exp.Expr) -> exp.Expr:
        return value.copy()

    def lookup(self, table: str, key: exp.Expr) -> exp.Expr:
        return self.join(table, {"original": key})("released")

    def join(self, table: str, keys: Mapping[str, exp.Expr]) -> Callable[[str], exp.Expr]:
        self.tables.add(table)
        return lambda column: exp.column(column, table=table)

    def join_below(self, table: str, key: exp.Expr) -> Callable[[str], exp.Expr]:
        return self.join(table, {"original": key})

    def join_nearest(
        self, table: str, when: exp.Expr, distance: Callable[[Any], exp.Expr]
    ) -> Callable[[str], exp.Expr]:
        joined = self.join(table, {})
        distance(joined)
        return joined

    def row_key(self) -> exp.Expr:
        return exp.column("row")

    def source_value(self, index: int) -> exp.Expr:
        return exp.column(f"value{index}")

    def mixed_with(self, index: int) -> list[int]:
        return []


def made(word: str) -> tuple[Treatment, dict[str, Any]]:
    """Return a treatment as a script writes it, and what it is told of its columns."""
    text, types, statistics = WRITTEN[word]
    (statement,) = parse_script(f"CREATE RELEASE r FROM t (a NEUTRAL AS {text})")
    assert isinstance(statement, CreateRelease)
    columns = [
        InputColumn(Name(f"c{at}"), ColumnType(type_), f"table:c{at}")
        for at, type_ in enumerate(types)
    ]
    (treatment,) = (one for one in TREATMENTS if one.keyword == word)
    return treatment.from_call(statement.rules[0].treatments[0], columns), statistics


def plain(drawn: Drawn) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return what was drawn, tables as sets of rows: their order is secret, too."""
    tables = {name: sorted(map(str, table.to_pylist())) for name, table in drawn.tables.items()}
    return dict(drawn.parameters), tables


def test_every_treatment_is_here() -> None:
    assert [treatment.keyword for treatment in TREATMENTS] == list(WRITTEN)


@pytest.mark.parametrize("word", WRITTEN)
def test_an_expression_refers_to_what_was_drawn_and_to_nothing_else(word: str) -> None:
    treatment, statistics = made(word)
    drawn = treatment.draw(statistics, OWN, None)
    inputs = [exp.column(f"c{at}") for at in range(len(treatment.columns))]
    native, kernel = Noted(), Noted()
    assert len(treatment.to_expr(inputs, native)) == len(inputs)
    assert len(treatment.kernel_expr(inputs, kernel)) == len(inputs)
    assert native.parameters | kernel.parameters <= drawn.parameters.keys()
    # Nothing is stored that nobody uses; ends of BIGINT are for columns of that type.
    unused = drawn.parameters.keys() - native.parameters - kernel.parameters - FACTS
    assert {name for name in unused if not name.startswith(("least_", "most_"))} == set()
    assert native.tables == kernel.tables == set(drawn.tables)


@pytest.mark.parametrize("word", WRITTEN)
def test_a_refresh_keeps_what_was_drawn(word: str) -> None:
    treatment, statistics = made(word)
    drawn = treatment.draw(statistics, OWN, None)
    assert plain(treatment.draw(statistics, OWN, drawn)) == plain(drawn)


@pytest.mark.parametrize("word", DRAWN_AT_RANDOM)
def test_what_is_drawn_is_another_one_each_time(word: str) -> None:
    """Of 20 draws of three aliases, all are alike once in 6 ** 19."""
    treatment, statistics = made(word)
    found = {str(plain(treatment.draw(statistics, OWN, None))) for _ in range(20)}
    assert len(found) > 1


@pytest.mark.parametrize("word", DRAWN_ALIKE)
def test_sites_with_one_agreement_draw_alike_and_others_do_not(word: str) -> None:
    treatment, statistics = made(word)
    assert treatment.why_not_agreed() is None
    first, again = (plain(treatment.draw(statistics, AGREED, None)) for _ in range(2))
    assert first == again
    assert plain(treatment.draw(statistics, OTHER, None)) != first


@pytest.mark.parametrize("word", [word for word in WRITTEN if word not in DRAWN_ALIKE])
def test_the_others_say_why_sites_cannot_agree_or_have_nothing_to_agree_on(word: str) -> None:
    treatment, statistics = made(word)
    drawn = treatment.draw(statistics, AGREED, None)
    is_fixed = word in (
        "keep", "suppress", "bit_plus", "bit_minus", "graded_grouping",
        "truncate", "age_at", "round", "top_code", "partial", "ip",
    )  # fmt: skip
    assert (treatment.why_not_agreed() is None) == is_fixed
    assert is_fixed or drawn.parameters or drawn.tables


@pytest.mark.parametrize("word", ["scaling", "rotation", "hybrid", "translation"])
def test_what_is_affine_is_undone_by_its_own_rows(word: str) -> None:
    """Released values computed from weights and constants, and taken back."""
    treatment, statistics = made(word)
    drawn = treatment.draw(statistics, OWN, None)
    original = np.array([[1.0, 2.0], [3.5, -4.0], [0.0, 7.25]])
    rows = [treatment.row(drawn, at) for at in range(2)]  # type: ignore[attr-defined]  # affine
    released = [original @ np.array(weights) + shift for weights, shift in rows]
    back = treatment.invert([pa.array(column) for column in released], drawn)
    found = np.stack([np.asarray(column, dtype=float) for column in back], axis=1)
    assert found == pytest.approx(original, abs=1e-9)
