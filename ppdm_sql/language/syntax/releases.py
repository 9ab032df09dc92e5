"""What is said of releases: their source, their rules, the groups behind GENERALIZE."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax.rules import ColumnName, ColumnRule, Option
    from ppdm_sql.names import QualifiedName


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table or view."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FileSource:
    """A Parquet or CSV file, or a pattern of them."""

    path: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class QuerySource:
    """A SELECT in parentheses, letter by letter: nothing of ours rewrites the owner's SQL."""

    text: str = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


Source: TypeAlias = TableSource | FileSource | QuerySource


@dataclass(frozen=True, slots=True)
class GeneralizedColumn:
    """One column behind GENERALIZE: `zip USING zip_digits LEVEL 1 TO 3`."""

    column: ColumnName
    hierarchy: ColumnName | None = None
    """The name behind USING."""
    levels: tuple[int, int] | None = None
    """Between which levels; None: any."""
    weight: int | float = 1
    """How much its loss counts beside that of other columns."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A WHEN condition, letter by letter; its values are secret."""

    text: str = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TargetClause:
    """One target behind UNTIL: `k = 2`, `recursive_l(diagnosis, 3) = 2`, `t(income) <= 0.2`."""

    word: str
    """Folded."""
    comparison: str
    value: int | float
    column: ColumnName | None = None
    numbers: tuple[int | float, ...] = ()
    """The further arguments: c of recursive_l, the distance of proximity."""
    values: tuple[int | float | str, ...] = field(default=(), repr=False)
    """The values behind IN, which alpha is about; empty: all."""
    hierarchy: ColumnName | None = None
    """The name behind USING, for the distance of t."""
    against: QualifiedName | None = None
    """The register behind AGAINST, of k_map."""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GeneralizeClause:
    """GENERALIZE columns [WHEN condition] UNTIL targets [SUPPRESS [CELLS] AT MOST n PERCENT]."""

    columns: tuple[GeneralizedColumn, ...]
    targets: tuple[TargetClause, ...]
    when: Condition | None = None
    percent: int | float = 0
    span: Span | None = field(default=None, compare=False, repr=False)
    suppresses_cells: bool = False
    """Whether the percentage is of cells: single ones become `*`, before whole rows do."""


@dataclass(frozen=True, slots=True)
class CreateRelease:
    """CREATE [OR REPLACE] RELEASE name FROM source ( rules ) [GENERALIZE …] [WITH ( options )]."""

    name: QualifiedName
    source: Source
    rules: tuple[ColumnRule, ...]
    options: tuple[Option, ...] = ()
    replace: bool = False
    generalize: GeneralizeClause | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    name_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DropRelease:
    """DROP RELEASE [IF EXISTS] name."""

    name: QualifiedName
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RefreshRelease:
    """REFRESH RELEASE name [, name …]: all of them, or none."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)
    also: tuple[RefreshRelease, ...] = ()

    @property
    def each(self) -> tuple[RefreshRelease, ...]:
        """The same of every release that is named."""
        return (RefreshRelease(self.name, self.span), *self.also)


@dataclass(frozen=True, slots=True)
class ShowTreatments:
    """SHOW TREATMENTS."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowReleases:
    """SHOW RELEASES."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DescribeRelease:
    """DESCRIBE RELEASE name."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExplainRelease:
    """EXPLAIN RELEASE name [FOR target]."""

    name: QualifiedName
    target: str = "duckdb"
    span: Span | None = field(default=None, compare=False, repr=False)
    target_span: Span | None = field(default=None, compare=False, repr=False)
