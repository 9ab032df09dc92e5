"""A condition on released columns to one on original columns that selects the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

import numpy as np
from sqlglot import exp

from ppdm_sql.errors import PpdmError, plural
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.interpret.forward import NeedsTableError, formulas
from ppdm_sql.interpret.labels import why_not
from ppdm_sql.interpret.predicates import (
    AllOf,
    AnyOf,
    Compare,
    Constant,
    Foreign,
    NullTest,
    Predicate,
    Reader,
)
from ppdm_sql.interpret.wording import shown, simple
from ppdm_sql.treatments.expressions import comparison, literal_of
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.treatments.protocol import Exactness

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ppdm_sql.interpret.labels import Labels
    from ppdm_sql.names import Name
    from ppdm_sql.parameters import DrawnBySlot
    from ppdm_sql.release.model import BoundRule, Release

    Floats = npt.NDArray[np.float64]

_EXACT = 2.0**53
"""Whole numbers up to here are themselves as DOUBLE."""


@dataclass(frozen=True, slots=True)
class Images:
    """The released numbers of a column, ascending, and the originals behind each of them."""

    released: Floats = field(repr=False)
    lowest: Floats = field(repr=False)
    highest: Floats = field(repr=False)

    def original(self, released: float) -> float | None:
        """Return the one original value of a released one."""
        at = int(np.searchsorted(self.released, released))
        if at == len(self.released) or self.released[at] != released:
            return None
        low, high = float(self.lowest[at]), float(self.highest[at])
        return low if low == high and abs(low) <= _EXACT else None


class Source(Protocol):
    """What the original data is asked: never more than the columns of one rule."""

    def images(self, name: Name) -> Images:
        """Return the released numbers of a column with their originals."""
        ...

    def originals(self, name: Name, released: Sequence[str]) -> Mapping[str, object]:
        """Return the original values of released ones, as far as the source has them."""
        ...

    def labels(self, name: Name) -> Labels | None:
        """Return what GENERALIZE made of the values of a column."""
        ...


@dataclass(frozen=True, slots=True)
class Interpretation:
    """A condition on original columns. What it tells is the owner's secret."""

    tree: exp.Expr = field(repr=False)
    notes: tuple[str, ...] = field(default=(), repr=False)
    is_complete: bool = True
    """False where a part had to stay in released terms."""

    def of_value(self) -> str:
        """Return it as it stands in a cell: a value where it is one, else the condition."""
        tree = self.tree
        if isinstance(tree, exp.EQ) and isinstance(tree.expression, exp.Literal):
            return str(tree.expression.this)
        return shown(tree)


@dataclass(frozen=True)
class Rewriter:
    """Rewrites conditions of one release with its parameters."""

    release: Release
    drawn: DrawnBySlot = field(repr=False)
    source: Source

    def rewrite(self, predicate: Predicate) -> Interpretation:
        """Return the condition on original columns, and what is to be said of it."""
        match predicate:
            case AllOf(parts) | AnyOf(parts):
                done = [self.rewrite(part) for part in parts]
                join = exp.and_ if isinstance(predicate, AllOf) else exp.or_
                return Interpretation(
                    join(*(part.tree for part in done)),
                    tuple(dict.fromkeys(note for part in done for note in part.notes)),
                    all(part.is_complete for part in done),
                )
            case Foreign(tree):
                return Interpretation(tree.copy())
            case Compare(column):
                return self._comparison(predicate, *self.place(column))
            case NullTest(column):
                return self._null_test(predicate, *self.place(column))

    def place(self, column: Name) -> tuple[BoundRule, int]:
        """Return the rule of a released column and its place in it."""
        return next(
            (rule, rule.names.index(column))
            for rule in self.release.released_rules
            if column in rule.names
        )

    def is_untreated(self, column: Name) -> bool:
        """Whether a column leaves as it is."""
        return _is_untreated(self.place(column)[0])

    def _comparison(self, leaf: Compare, rule: BoundRule, index: int) -> Interpretation:
        if rule.is_generalized:
            return self._generalized(leaf, rule, index)
        if any(step.treatment.exactness is Exactness.LOOKUP for step in rule.steps):
            return self._found_again(leaf, rule, index)
        value, note = leaf.constant.value, None
        is_number = _is_number(leaf.constant.value) and _is_numeric(rule, index)
        if is_number and _is_inverted(rule) and not _is_untreated(rule):
            images = self.source.images(leaf.column)
            snapped, note = _unrounded(leaf, images)
            tree = self._through(rule, len(rule.steps), leaf.operator, snapped, index)
            pair = tree and simple(tree, rule.columns[index].name)
            if pair:  # one original column: what the data has is more exact than arithmetic
                original = images.original(float(snapped))
                if original is not None:
                    column = _originals(rule)[index]
                    tree = comparison(pair[0], column, literal_of(original))
            if tree is not None and len({column.name for column in tree.find_all(exp.Column)}) < 2:
                return Interpretation(_readable(tree), (note,) if note else ())
        # No single original value stands behind a number of several columns: nothing to snap to.
        tree = self._through(rule, len(rule.steps), leaf.operator, value, index)
        return self._stays(leaf, rule) if tree is None else Interpretation(_readable(tree))

    def _through(
        self, rule: BoundRule, depth: int, operator: str, value: int | float | str, index: int
    ) -> exp.Expr | None:
        """Rewrite a comparison after `depth` treatments of a chain; None where nothing says it."""
        columns = _originals(rule)
        if depth == 0:
            return comparison(operator, columns[index], literal_of(value))
        step = rule.steps[depth - 1]
        if not step.treatment.translates:
            return None
        tree = step.treatment.invert_condition(
            operator, value, columns, self.drawn[step.slot], index
        )
        return None if tree is None else self._before(tree, rule, depth - 1)

    def _before(self, tree: exp.Expr, rule: BoundRule, depth: int) -> exp.Expr | None:
        """Rewrite a condition on what the first `depth` treatments made of the columns."""
        if depth == 0 or all(traits.shows_originals for traits in rule.traits[:depth]):
            return tree
        names = tuple(column.name for column in rule.columns)
        reader = Reader(self.release.name, names, passes_others=True)
        try:
            predicate = reader.read_tree(tree.transform(_without_cast))
        except PpdmError:  # it speaks of several columns at once
            return self._substituted(tree, rule, depth)
        return self._leaves(predicate, rule, depth)

    def _leaves(self, predicate: Predicate, rule: BoundRule, depth: int) -> exp.Expr | None:
        match predicate:
            case AllOf(parts) | AnyOf(parts):
                done = [self._leaves(part, rule, depth) for part in parts]
                trees = [part for part in done if part is not None]
                if len(trees) < len(done):
                    return None
                return exp.and_(*trees) if isinstance(predicate, AllOf) else exp.or_(*trees)
            case Foreign(tree):
                return tree
            case Compare(column, operator, constant):
                index = [other.name for other in rule.columns].index(column)
                return self._through(rule, depth, operator, constant.value, index)
            case NullTest(column, is_null):
                index = [other.name for other in rule.columns].index(column)
                return self._null(rule, depth, index, is_null)

    def _substituted(self, tree: exp.Expr, rule: BoundRule, depth: int) -> exp.Expr | None:
        try:
            values = formulas(
                _originals(rule), rule.steps[:depth], self.drawn, self.release.formula
            )
        except NeedsTableError:
            return None
        put = {column.name.text: value for column, value in zip(rule.columns, values, strict=True)}

        def replaced(node: exp.Expr) -> exp.Expr:
            return exp.paren(put[node.name].copy()) if isinstance(node, exp.Column) else node

        return tree.transform(replaced)

    def behind_label(self, rule: BoundRule, index: int, label: str) -> Interpretation:
        """Return what a value of a generalized column says of the original."""
        return self._generalized(
            Compare(rule.names[index], "=", Constant(label, label)), rule, index
        )

    def _generalized(self, leaf: Compare | NullTest, rule: BoundRule, index: int) -> Interpretation:
        """Return the values behind a label; of rows that leave, for no others were released."""
        labels = self.source.labels(leaf.column)
        why = why_not(find_grouping(self.release), labels)
        if why is not None or labels is None:
            return self._stays(leaf, rule, why)
        column = _originals(rule)[index]
        tree: exp.Expr | None
        if isinstance(leaf, Compare):
            tree = labels.condition(leaf.operator, leaf.constant, column)
        elif labels.is_all:
            tree = exp.false() if leaf.is_null else exp.true()
        else:
            tree = column.is_(exp.null()) if leaf.is_null else column.is_(exp.null()).not_()
        if tree is None:
            is_equal = isinstance(leaf, Compare) and leaf.operator in ("=", "<>")
            why = "no row shows it" if is_equal else "labels have no order"
            return self._stays(leaf, rule, why)
        note = "suppressed rows are left out of the release, but not of this condition"
        return Interpretation(_readable(tree), (note,) if labels.has_suppressed else ())

    def _null_test(self, leaf: NullTest, rule: BoundRule, index: int) -> Interpretation:
        if rule.is_generalized:
            return self._generalized(leaf, rule, index)
        tree = self._null(rule, len(rule.steps), index, leaf.is_null)
        return self._stays(leaf, rule) if tree is None else Interpretation(_readable(tree))

    def _null(self, rule: BoundRule, depth: int, index: int, is_null: bool) -> exp.Expr | None:
        columns = _originals(rule)
        tree: exp.Expr = columns[index].is_(exp.null())
        if depth:
            step = rule.steps[depth - 1]
            found = step.treatment.released_null(columns, self.drawn[step.slot], index)
            if found is None:
                return None
            tree = found
        tree = tree if is_null else exp.not_(exp.paren(tree))
        return self._before(tree, rule, depth - 1) if depth else tree

    def _found_again(self, leaf: Compare, rule: BoundRule, index: int) -> Interpretation:
        """Look a keyed name up among those that the source gives now."""
        name = str(leaf.constant.value)
        found = self.source.originals(leaf.column, (name,)) if leaf.operator in ("=", "<>") else {}
        if name not in found:
            return self._stays(leaf, rule)
        tree = comparison(leaf.operator, _originals(rule)[index], literal_of(found[name]))
        assert tree is not None  # its operator was looked at
        return Interpretation(_readable(tree))

    def _stays(
        self, leaf: Compare | NullTest, rule: BoundRule, why: str | None = None
    ) -> Interpretation:
        """Return a leaf in released terms, under the name of the release, and say why."""
        parts = [exp.to_identifier(part.text) for part in (*self.release.name.parts, leaf.column)]
        column = exp.Column(this=parts[-1], table=parts[-2], db=parts[-3])
        tree: exp.Expr | None
        if isinstance(leaf, Compare):
            tree = comparison(leaf.operator, column, literal_of(leaf.constant.value))
            shown = f"{leaf.column} {leaf.operator} {leaf.constant.text}"
        else:
            tree = column.is_(exp.null()) if leaf.is_null else column.is_(exp.null()).not_()
            shown = f"{leaf.column} IS {'' if leaf.is_null else 'NOT '}NULL"
        assert tree is not None  # its operator was read as a comparison
        words = " then ".join(step.treatment.keyword for step in rule.steps)
        lost = any(step.treatment.exactness is Exactness.NONE for step in rule.steps)
        said = "cannot be inverted" if lost else "releases no original value as this"
        if any(one.draws_from_keys for one in rule.traits) and not lost:
            said += "; names of one recipient or one publication need PUBLICATION (--publication; see release_info)"
        why = why or f"{words} {said}"
        return Interpretation(_readable(tree), (f"{shown} stays in released terms: {why}",), False)


def _unrounded(leaf: Compare, images: Images) -> tuple[int | float, str | None]:
    """Return the released number that a short print stands for, and what is to be said."""
    value, text = leaf.constant.value, leaf.constant.text
    assert not isinstance(value, str)  # only numbers are asked for
    if not isinstance(value, float):
        return value, None
    half = float(half_unit(text))
    first = np.searchsorted(images.released, value - half, "left")
    last = np.searchsorted(images.released, value + half, "right")
    near = images.released[first:last]
    if not len(near) or value in near:
        return value, None
    if len(near) > 1:
        return value, (
            f"{leaf.column}: {text} has too few digits: it may be any of "
            f"{plural(len(near), 'original value')}; used as written"
        )
    return float(near[0]), (
        f"{leaf.column}: {text} was read as {float(near[0])!r}, the nearest released value"
    )


def half_unit(text: str) -> Decimal:
    """Return half a unit of the last digit of a printed number."""
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)  # a literal is never NaN or infinite
    return Decimal(5).scaleb(exponent - 1)


def _is_number(value: int | float | str) -> bool:
    return not isinstance(value, str | bool)


def _is_numeric(rule: BoundRule, index: int) -> bool:
    """Whether a column is a number before and after."""
    types = (rule.columns[index].type, rule.output_types[index])
    return all(type_.kind in NUMBERS for type_ in types)


def _is_inverted(rule: BoundRule) -> bool:
    return all(step.treatment.inverts for step in rule.steps)


def _is_untreated(rule: BoundRule) -> bool:
    return all(traits.shows_originals for traits in rule.traits)


def _originals(rule: BoundRule) -> list[exp.Column]:
    return [exp.column(exp.to_identifier(column.name.text)) for column in rule.columns]


def _without_cast(node: exp.Expr) -> exp.Expr:
    """A cast of a number to DOUBLE changes no comparison."""
    if isinstance(node, exp.Cast) and isinstance(node.this, exp.Column):
        return node.this
    return node


def _readable(tree: exp.Expr) -> exp.Expr:
    """Return a tree as people write it: `x IS NOT NULL`, names quoted only where they must be."""

    def clear(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Not):
            inner = node.this.unnest()
            if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
                return exp.Is(this=inner.this.copy(), expression=exp.Not(this=exp.null()))
        return node

    return tree.transform(clear)
