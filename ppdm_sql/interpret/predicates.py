"""A condition in released terms as a tree of comparisons, with every NOT pushed into its leaves.

Then a leaf only has to select the same rows when it is translated: AND and OR keep that, NOT over
NULL would not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from sqlglot import Dialect, ErrorLevel, exp
from sqlglot.errors import SqlglotError

from ppdm_sql.errors import BindError, Span, StatementError, suggest
from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Collection

    from ppdm_sql.parameters import Parameter

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_WRITE = (
    "a condition compares a column with a value: =, <>, <, <=, >, >=, BETWEEN, IN, IS NULL, "
    "joined by AND, OR, NOT"
)
_MOST_NODES = 100_000
LONGEST = 100_000
"""Letters of a condition, a line or a cell: more only serve to keep a parser busy."""
_LONGEST_NUMBER = 400
"""Letters of a number: the smallest DOUBLE has fewer when it is written out."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value of a condition, and how it was written: a number may have been printed short."""

    value: Parameter = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """`column operator constant`."""

    column: Name
    operator: str
    constant: Constant
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class NullTest:
    """`column IS [NOT] NULL`."""

    column: Name
    is_null: bool
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A condition on columns of somebody else, handed on as it is."""

    tree: exp.Expr = field(repr=False)


@dataclass(frozen=True, slots=True)
class AllOf:
    """AND."""

    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """OR."""

    parts: tuple[Predicate, ...]


Predicate: TypeAlias = Compare | NullTest | Foreign | AllOf | AnyOf


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads conditions on the columns of one release."""

    release: QualifiedName
    columns: Collection[Name]
    passes_others: bool = False
    """Whether a condition on columns of somebody else is handed on, or an error."""

    def read(self, span: Span) -> Predicate:
        """Read the text that a span covers."""
        return self._read(_parse(span), span, negated=False)

    def read_tree(self, tree: exp.Expr) -> Predicate:
        """Read a condition of our own; what has no column in it is handed on."""
        return self._read(tree, Span("", 0, 0), negated=False)

    def _read(self, tree: exp.Expr, span: Span, negated: bool) -> Predicate:
        match tree:
            case exp.Paren():
                return self._read(tree.this, span, negated)
            case exp.Not():
                return self._read(tree.this, span, not negated)
            case exp.And() | exp.Or():
                parts = tuple(self._read(part, span, negated) for part in tree.flatten())
                return AllOf(parts) if isinstance(tree, exp.And) != negated else AnyOf(parts)
        if self.passes_others and not self._is_ours(tree):
            return Foreign(exp.not_(tree.copy()) if negated else tree.copy())
        match tree:
            case exp.Between() if not tree.args.get("symmetric"):
                place = _place(tree, span)
                low = self._compare(tree.this, ">=", tree.args["low"], place, negated)
                high = self._compare(tree.this, "<=", tree.args["high"], place, negated)
                return AnyOf((low, high)) if negated else AllOf((low, high))
            case exp.In(expressions=[_, *_]):
                place = _place(tree, span)
                equal = tuple(
                    self._compare(tree.this, "=", value, place, negated)
                    for value in tree.expressions
                )
                if len(equal) == 1:
                    return equal[0]
                return AllOf(equal) if negated else AnyOf(equal)
            case exp.Is(expression=exp.Null()):
                name = self._column(tree.this, span)
                return NullTest(name, not negated, _place(tree, span))
        operator = _OPERATORS.get(type(tree))
        if operator is None:
            _refuse(tree, span)
        left, right = tree.this, tree.expression
        if isinstance(_bare(right), exp.Column) and not isinstance(_bare(left), exp.Column):
            left, right, operator = right, left, _MIRRORED.get(operator, operator)
        return self._compare(left, operator, right, _place(tree, span), negated)

    def _compare(
        self, column: exp.Expr, operator: str, value: exp.Expr, place: Span, negated: bool
    ) -> Compare:
        name = self._column(column, place)
        operator = _NEGATED[operator] if negated else operator
        return Compare(name, operator, _constant(value, place), place)

    def _column(self, tree: exp.Expr, span: Span) -> Name:
        tree = _bare(tree)
        if not isinstance(tree, exp.Column):
            _refuse(tree, span)
        name = Name(tree.name)
        if not self._is_known(tree):
            raise BindError(
                f"there is no column '{name}' in release '{self.release}'",
                _place(tree, span),
                suggest(name.text, (str(known) for known in self.columns), "columns"),
                code="unknown_column",
            )
        return name

    def _is_ours(self, tree: exp.Expr) -> bool:
        return any(self._is_known(column) for column in tree.find_all(exp.Column))

    def _is_known(self, column: exp.Column) -> bool:
        qualifier = tuple(Name(part.name) for part in column.parts[:-1])
        ours = self.release.parts[-len(qualifier) :] if qualifier else ()
        return Name(column.name) in self.columns and qualifier == ours


def _parse(span: Span) -> exp.Expr:
    """Return a text as one expression; comments are no part of it."""
    duckdb = Dialect.get_or_raise("duckdb")
    if span.end - span.start > LONGEST:
        raise StatementError(
            f"a condition has at most {LONGEST:,} characters", code="statement_too_large"
        )
    try:
        parser = duckdb.parser(error_level=ErrorLevel.IMMEDIATE, max_nodes=_MOST_NODES)
        trees = parser.parse_into(exp.Condition, duckdb.tokenize(span.source), span.source)
    except (SqlglotError, RecursionError, MemoryError):
        raise StatementError("this is not a condition", span, _WRITE, code="syntax") from None
    if len(trees) != 1 or trees[0] is None:
        raise StatementError("expected one condition", span, _WRITE, code="syntax")
    tree = trees[0]
    for node in tree.walk():
        node.pop_comments()
    return tree


def _constant(tree: exp.Expr, span: Span) -> Constant:
    value = _bare(tree)
    sign, text = "", ""
    if isinstance(value, exp.Neg):
        sign, value = "-", _bare(value.this)
    if isinstance(value, exp.Boolean) and not sign:
        return Constant(bool(value.this), str(value.this).lower())
    if isinstance(value, exp.Cast) and not sign:  # DATE '2020-01-01', 2.5::DOUBLE
        return _constant(value.this, span)
    if isinstance(value, exp.Null):
        raise StatementError(
            "no comparison with NULL is ever true",
            _place(tree.parent, span),
            "write IS NULL",
            code="bad_condition",
        )
    if not isinstance(value, exp.Literal):
        _refuse(tree, span)
    if value.is_string:
        if sign:
            _refuse(tree, span)
        return Constant(value.name, value.name)
    text = sign + value.name
    number = number_of(text)
    if number is None:
        raise StatementError(
            "a number of this condition is too large", _place(tree, span), code="bad_condition"
        )
    return Constant(number, text)


def number_of(text: str) -> int | float | None:
    """Return a number as it was written, whole ones exactly; None if no DOUBLE is as large."""
    if len(text) > _LONGEST_NUMBER:
        return None
    number = float(text)
    if not math.isfinite(number):
        return None
    return int(text) if text.removeprefix("-").isdecimal() else number


def _bare(tree: exp.Expr) -> exp.Expr:
    while isinstance(tree, exp.Paren):
        tree = tree.this
    return tree


def _refuse(tree: exp.Expr, span: Span) -> NoReturn:
    raise StatementError(
        "this condition cannot be translated", _place(tree, span), _WRITE, code="bad_condition"
    )


def _place(tree: exp.Expr | None, span: Span) -> Span:
    """Return where a tree stands: from its first word that sqlglot places to its last."""
    found = [node.meta for node in tree.walk() if "start" in node.meta] if tree else []
    if not found:
        return span
    start = min(int(meta["start"]) for meta in found)
    end = max(int(meta["end"]) for meta in found) + 1
    return Span(span.text, span.start + start, span.start + end)
