"""GENERALIZE after binding: which columns, which rows, until when."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from ppdm_sql.errors import Span
    from ppdm_sql.model.hierarchy import Hierarchy
    from ppdm_sql.model.syntax import TargetClause
    from ppdm_sql.model.transform import InputColumn, Parameter
    from ppdm_sql.names import Name

SLOT = "g"
"""The place of GENERALIZE in a release: prefixes its parameters and its table."""

COMBINATIONS = "combinations"
"""Its lookup table: what each combination of quasi-identifiers is released as."""


@dataclass(frozen=True, slots=True)
class GroupedColumn:
    """A column that is generalized."""

    column: InputColumn
    name: Name
    """The name under which it is released."""
    hierarchy: Hierarchy
    span: Span | None = field(default=None, compare=False, repr=False)


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
            return f"{clause.word} {clause.comparison} {clause.value}"
        argument = "" if clause.number is None else f", {clause.number}"
        if self.hierarchy is not None:
            argument += f" USING {self.hierarchy.name}"
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

    @property
    def sensitive(self) -> tuple[InputColumn, ...]:
        """The sensitive columns that targets name, each once."""
        found = {target.column.name: target.column for target in self.targets if target.column}
        return tuple(found.values())

    @property
    def k(self) -> int:
        """The size that every class must have; 1 when no target asks for one."""
        return next((int(t.clause.value) for t in self.targets if t.clause.word == "k"), 1)
