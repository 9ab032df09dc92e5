"""GENERALIZE after binding: which columns, which rows, until when; and the SELECT that it makes.

A combination is one set of values of all QUASI columns: the generalized ones as the source has
them, the others as they are released. The owner's table says what each combination is released
as. One that is not in it arrived later and is withheld until the release is refreshed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import check_tree, column_of, data_type, named, table_of
from ppdm_sql.errors import InternalError
from ppdm_sql.groups.label_ends import end_type, has_ends
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.compile import rows_with
from ppdm_sql.release.lineage import may_share
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.errors import Span
    from ppdm_sql.groups.hierarchy_kinds import Hierarchy
    from ppdm_sql.language.syntax import TargetClause
    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.release.model import BoundRule, Plan, Release
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.types import ColumnType

SLOT = "g"
"""The place of GENERALIZE in a release: prefixes its parameters and its table."""

REGISTER = "register"
"""Another one: what everybody in the register of k_map would be released as, counted."""
COMBINATIONS = "combinations"
"""Its lookup table: what each combination of quasi-identifiers is released as."""

ROWS, TABLE = "s", "c"
_STARS_HIDE = 2
"""The formula from which records that are kept as `*` show no SENSITIVE value."""
HIGH = "ppdm_high"
"""Whether a row is in the high class."""
ID, IS_SUPPRESSED, COUNT = "id", "is_suppressed", "n"
SIZES = ("k", "kpqr")
"""Targets that say how many persons a class has at least."""


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """A column that is generalized."""

    column: InputColumn
    name: Name
    """The name under which it is released."""
    hierarchy: Hierarchy
    span: Span | None = field(default=None, compare=False, repr=False)
    levels: tuple[int, int] | None = None
    """Between which levels the owner wants it; None: any."""
    weight: float = 1.0
    """How much its loss counts beside that of other columns."""


@dataclass(frozen=True, slots=True)
class When:
    """The condition that picks the high class. Its values are parameters, not text of the view."""

    tree: exp.Expr = field(repr=False)
    """Over columns of the source; a placeholder is a parameter of the release."""
    parameters: dict[str, Parameter] = field(repr=False)
    text: str = field(repr=False)
    """As the owner wrote it: what the tree is compared with on the data."""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BoundTarget:
    """One target, with its sensitive column resolved."""

    clause: TargetClause
    column: InputColumn | None = None
    hierarchy: Hierarchy | None = None
    """For the distance of t."""

    def __str__(self) -> str:
        clause = self.clause
        if self.column is None:
            against = "" if clause.against is None else f" AGAINST {clause.against.name}"
            return f"{clause.word} {clause.comparison} {clause.value}{against}"
        argument = "".join(f", {number}" for number in clause.numbers)
        if self.hierarchy is not None:
            argument += f" USING {self.hierarchy.name}"
        if clause.values:
            argument += " IN (…)"  # published with the release: which they are is the owner's
        return f"{clause.word}({self.column.name}{argument}) {clause.comparison} {clause.value}"


@dataclass(frozen=True, slots=True)
class Grouping:
    """What GENERALIZE means for a source."""

    columns: tuple[GroupedColumn, ...]
    targets: tuple[BoundTarget, ...]
    when: When | None
    """None: all rows are treated."""
    person: InputColumn | None
    """The KEY: classes are counted in persons. None: in rows."""
    share: float
    """How much of the treated rows may be suppressed, 0 to 1."""
    loss: str = "precision"
    method: str = "optimal"
    keeps_suppressed: bool = False
    """Whether a suppressed record stays, as `*`."""
    span: Span | None = field(default=None, compare=False, repr=False)
    suppresses_cells: bool = False
    """Whether single cells are suppressed before whole rows are; the share is then one of cells."""
    shows_ends: bool = False
    """Whether numbers and dates are released with the ends of their ranges beside them."""

    @property
    def sensitive(self) -> tuple[InputColumn, ...]:
        """The sensitive columns that targets name, each once."""
        found = {target.column.name: target.column for target in self.targets if target.column}
        return tuple(found.values())

    @property
    def k(self) -> int:
        """The size that every class must have; 1 when no target asks for one."""
        return max((int(t.clause.value) for t in self.targets if t.clause.word in SIZES), default=1)

    def ends(self, name: Name) -> tuple[str, str] | None:
        """Return what the ends of a column's ranges are called; None where they are not shown."""
        column = next((one for one in self.columns if one.name == name), None)
        if column is None or not self.shows_ends:
            return None
        if not has_ends(column.hierarchy, column.column.type):
            return None
        return f"{name.text}_low", f"{name.text}_high"

    @property
    def register(self) -> QualifiedName | None:
        """The table of everybody, among whom classes are to be large enough; None: nobody asks."""
        return next((t.clause.against for t in self.targets if t.clause.against), None)

    @property
    def k_map(self) -> int:
        """How many persons of the register every class must fit; 0 when no target asks."""
        return next((int(t.clause.value) for t in self.targets if t.clause.against), 0)

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The values of its conditions and targets, which stand in no text of SQL."""
        found = dict(self.when.parameters) if self.when is not None else {}
        for at, target in enumerate(self.targets):
            found |= {chosen_parameter(at, i): v for i, v in enumerate(target.clause.values)}
        return found

    def hides_sensitive(self, release: Release) -> bool:
        """Whether a record that is kept as `*` shows no SENSITIVE value either.

        Such records are a class of which no target is measured, so they may tell nothing. Versions
        of earlier programs stay as they are.
        """
        return self.keeps_suppressed and release.formula >= _STARS_HIDE

    def select(self, plan: Plan) -> exp.Select:
        """Return the SELECT of the whole release."""
        return grouped_select(plan)

    def waiting(self, plan: Plan) -> exp.Select:
        """Return how many rows are withheld because their combination arrived later."""
        rows = rows_with(plan, with_high(self, {}))
        missing: exp.Expr = exp.Is(this=column_of(IS_SUPPRESSED, TABLE), expression=exp.null())
        if self.when is not None:
            missing = exp.and_(column_of(HIGH, ROWS), missing)
        count = named(exp.Count(this=exp.Star()), COUNT)
        return over(rows, ROWS, [count], combinations_join(plan, "LEFT")).where(missing)


def find_grouping(release: Release) -> Grouping | None:
    """Return the GENERALIZE of a release; None if it has none."""
    found = release.grouping
    if found is not None and not isinstance(found, Grouping):
        raise InternalError("a clause over rows that is not GENERALIZE")
    return found


def grouping_of(plan: Plan) -> Grouping:
    """Return the GENERALIZE of a release that has one."""
    found = find_grouping(plan.release)
    if found is None:
        raise InternalError("this release has no GENERALIZE")
    return found


def chosen_parameter(target: int, value: int) -> str:
    """Return the name of a value that a target names."""
    return f"t{target}_{value}"


def key_column(index: int) -> str:
    """Return the name of a generalized column's original value in the table of combinations."""
    return f"k{index}"


def fixed_column(index: int) -> str:
    """Return the name of another QUASI column's released value there."""
    return f"f{index}"


def label_column(index: int) -> str:
    """Return the name of a generalized column's released text there."""
    return f"r{index}"


def end_columns(index: int) -> tuple[str, str]:
    """Return the names of the ends of a generalized column's ranges there."""
    return f"l{index}", f"h{index}"


def fixed_quasi(release: Release) -> tuple[tuple[Name, ColumnType], ...]:
    """Return the QUASI columns that are not generalized, with the types that leave."""
    return tuple(
        column
        for rule in release.released_rules
        if rule.role is Role.QUASI and not rule.is_generalized
        for column in zip(rule.names, rule.output_types, strict=True)
    )


def _hidden_ancestors(release: Release) -> frozenset[str]:
    """Return the columns of tables that a record kept as `*` must not show, under any name."""
    rules = (rule for rule in release.rules if rule.role in (Role.SENSITIVE, Role.QUASI))
    return frozenset(origin for rule in rules for c in rule.columns for origin in c.ancestors)


def _is_unrelated(rule: BoundRule, hidden: frozenset[str]) -> bool:
    """Tell whether a rule is known to show nothing of what is hidden: not where nobody knows."""
    if rule.role is Role.KEY:
        return True
    return rule.role is not Role.SENSITIVE and all(
        column.ancestors and not may_share(column.ancestors, hidden) for column in rule.columns
    )


def grouped_select(
    plan: Plan,
    carried: Mapping[str, exp.Expr] | None = None,
    suppressed_flag: str | None = None,
) -> exp.Select:
    """Return the SELECT of a release with GENERALIZE; carried columns come last.

    The owner alone may ask for a flag of the records that are kept as `*`.
    """
    grouping = grouping_of(plan)
    carried = carried or {}
    rows = rows_with(plan, with_high(grouping, carried))
    is_suppressed = column_of(IS_SUPPRESSED, TABLE)
    labels = {column.name: index for index, column in enumerate(grouping.columns)}
    types = {column.name: column.column.type for column in grouping.columns}
    types |= dict(fixed_quasi(plan.release))
    shown: list[exp.Expr] = []
    hidden_too = _hidden_ancestors(plan.release) if grouping.hides_sensitive(plan.release) else None
    for rule in plan.release.released_rules:
        for name in rule.names:
            value: exp.Expr = column_of(name.text, ROWS)
            if name in types:
                value = _one_zero(value, types[name])
            if name in labels:
                label = column_of(label_column(labels[name]), TABLE)
                value = _if_high(grouping, label, exp.cast(value, "VARCHAR"))
            elif (name in types and grouping.keeps_suppressed) or (
                hidden_too is not None and not _is_unrelated(rule, hidden_too)
            ):
                hidden = exp.case().when(is_suppressed.copy(), exp.null()).else_(value.copy())
                value = _if_high(grouping, hidden, value)
            shown.append(named(value, name.text))
            shown += _ends(grouping, name, labels, types)
    shown += [named(column_of(name, ROWS), name) for name in carried]
    join = combinations_join(plan, "LEFT" if grouping.when else "")
    # NULL where the combination is not in the table: neither shown nor, as a star, kept.
    found: exp.Expr = exp.Not(this=is_suppressed)
    if grouping.keeps_suppressed:
        found = exp.Not(this=exp.Is(this=is_suppressed, expression=exp.null()))
    if grouping.when is not None:
        found = exp.or_(exp.Not(this=column_of(HIGH, ROWS)), found)
    for tree in (*shown, join, found):
        check_tree(tree, plan.target)
    if suppressed_flag is not None:
        flag = _if_high(grouping, is_suppressed.copy(), exp.false())
        shown.append(named(flag, suppressed_flag))
    return over(rows, ROWS, shown, join).where(found)


def _ends(
    grouping: Grouping, name: Name, labels: Mapping[Name, int], types: Mapping[Name, ColumnType]
) -> list[exp.Expr]:
    """Return the ends of a column's ranges: in numbers and dates, for sorting and arithmetic."""
    called = grouping.ends(name)
    if called is None:
        return []
    columns = zip(called, end_columns(labels[name]), strict=True)
    own = column_of(name.text, ROWS)
    return [
        named(
            exp.TryCast(
                this=_if_high(grouping, column_of(end, TABLE), exp.cast(own.copy(), "VARCHAR")),
                to=data_type(end_type(types[name])),
            ),
            shown,
        )
        for shown, end in columns
    ]


def high_flag(when: When) -> exp.Expr:
    """Return whether a row is in the high class, over columns of the source; unknown means yes."""
    is_low = exp.Not(this=exp.Paren(this=when.tree.copy()))
    return exp.case().when(is_low, exp.false()).else_(exp.true())


def with_high(grouping: Grouping, carried: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    """Add whether a row is in the high class; where that cannot be told, it is."""
    if grouping.when is None:
        return dict(carried)
    return {**carried, HIGH: high_flag(grouping.when)}


def _if_high(grouping: Grouping, high: exp.Expr, low: exp.Expr) -> exp.Expr:
    if grouping.when is None:
        return high
    return exp.case().when(column_of(HIGH, ROWS), high).else_(low)


def combinations_join(plan: Plan, side: str) -> exp.Join:
    """Return the join that finds the combination of a row."""
    keys = [
        (column.name, column.column.type, key_column(index))
        for index, column in enumerate(grouping_of(plan).columns)
    ]
    keys += [
        (name, type_, fixed_column(index))
        for index, (name, type_) in enumerate(fixed_quasi(plan.release))
    ]
    on = [
        exp.NullSafeEQ(
            this=_exact(column_of(name.text, ROWS), type_),
            expression=_exact(column_of(key, TABLE), type_),
        )
        for name, type_, key in keys
    ]
    table = table_of(plan.storage.lookup_table(SLOT, COMBINATIONS), TABLE)
    return exp.Join(this=table, on=exp.and_(*on), side=side)


def alike(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a value of a combination so that equal ones are one combination in Arrow, too."""
    return _one_zero(_exact(value, type_), type_)


def _exact(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Compare texts letter by letter, whatever collation the owner has set."""
    if type_.kind is Kind.OTHER:
        return exp.cast(value, "VARCHAR")  # always NULL: only a suppressed column is of such
    if type_.kind not in (Kind.TEXT, Kind.ENUM):
        return value
    return exp.Collate(this=value, expression=exp.to_identifier("C", quoted=True))


def _one_zero(value: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return a number without the sign of a zero or NaN: equal ones must be shown alike."""
    if type_.kind is not Kind.FLOAT:
        return value
    nan = exp.cast(exp.Literal.string("NaN"), type_.text)
    plain = exp.Add(this=value.copy(), expression=exp.Literal.number(0))
    return exp.case().when(exp.EQ(this=value, expression=nan), nan.copy()).else_(plain)


def over(rows: exp.Select, alias: str, shown: list[exp.Expr], join: exp.Join) -> exp.Select:
    """Return a SELECT over rows and what is joined to them."""
    select = exp.select(*shown).from_(subquery(rows, alias))
    select.append("joins", join)
    return select


def subquery(select: exp.Select, alias: str) -> exp.Subquery:
    """Return a SELECT as it stands behind FROM."""
    return select.subquery(exp.to_identifier(alias, quoted=True))
