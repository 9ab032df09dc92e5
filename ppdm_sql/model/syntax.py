"""What a statement says, before anything is looked up. Frozen values, no I/O.

Spans are excluded from equality, and everything that may hold a parameter is excluded from
`repr`: a statement can be printed anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.names import Name, QualifiedName


class Role(StrEnum):
    """What a column is to the people in it."""

    KEY = "KEY"
    """Identifies the row; used by the owner, released only through a treatment."""
    IDENTIFIER = "IDENTIFIER"
    """Names a person; never leaves."""
    QUASI = "QUASI"
    """Together with others singles people out."""
    SENSITIVE = "SENSITIVE"
    """What must not be tied to a person."""
    NEUTRAL = "NEUTRAL"
    """Neither."""


Value: TypeAlias = "int | float | str | bool | tuple[Value, ...] | TransformCall | None"
"""An argument: a literal, a list (as a tuple) or a call such as `normal(0, 10)`."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a call: positional, or named with `=>`."""

    name: str | None
    """Folded; None when positional."""
    value: Value = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TransformCall:
    """A word with arguments; which words exist is not known here."""

    keyword: str
    """Folded."""
    arguments: tuple[Argument, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnName:
    """A column as the script names it."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """One line of a release: columns, role, treatments in order."""

    columns: tuple[ColumnName, ...]
    role: Role
    treatments: tuple[TransformCall, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def is_released(self) -> bool:
        """Whether the columns leave: IDENTIFIER never, KEY only through a treatment."""
        if self.role is Role.IDENTIFIER:
            return False
        return self.role is not Role.KEY or bool(self.treatments)


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
class Option:
    """One `name = value` of a WITH clause."""

    name: str
    value: Value = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GeneralizedColumn:
    """One column behind GENERALIZE: `zip USING zip_digits`."""

    column: ColumnName
    hierarchy: ColumnName | None = None
    """The name behind USING."""


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
    number: int | float | None = None
    """The second argument: c of recursive_l."""
    hierarchy: ColumnName | None = None
    """The name behind USING, for the distance of t."""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Generalize:
    """GENERALIZE columns [WHEN condition] UNTIL targets [SUPPRESS AT MOST n PERCENT]."""

    columns: tuple[GeneralizedColumn, ...]
    targets: tuple[TargetClause, ...]
    when: Condition | None = None
    percent: int | float = 0
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateRelease:
    """CREATE [OR REPLACE] RELEASE name FROM source ( rules ) [GENERALIZE …] [WITH ( options )]."""

    name: QualifiedName
    source: Source
    rules: tuple[ColumnRule, ...]
    options: tuple[Option, ...] = ()
    replace: bool = False
    generalize: Generalize | None = None
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
    """REFRESH RELEASE name."""

    name: QualifiedName
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


@dataclass(frozen=True, slots=True)
class DigitsBody:
    """SUPPRESS DIGITS RIGHT."""


@dataclass(frozen=True, slots=True)
class RangesBody:
    """RANGES (w1, w2, …) [FROM origin]."""

    widths: tuple[int | float, ...]
    origin: int | float = 0


@dataclass(frozen=True, slots=True)
class TreeBody:
    """TREE (('value', 'group', 'larger group'), …)."""

    rows: tuple[tuple[str, ...], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class DateBody:
    """DATE (day, month, …)."""

    units: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableBody:
    """TABLE t: one row a value, its levels in the columns."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FileBody:
    """FROM 'file.csv': one row a value, most specific first."""

    path: str
    span: Span | None = field(default=None, compare=False, repr=False)


HierarchyBody: TypeAlias = DigitsBody | RangesBody | TreeBody | DateBody | TableBody | FileBody


@dataclass(frozen=True, slots=True)
class CreateHierarchy:
    """CREATE [OR REPLACE] HIERARCHY name AS body."""

    name: Name
    body: HierarchyBody
    replace: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    name_span: Span | None = field(default=None, compare=False, repr=False)
    body_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DropHierarchy:
    """DROP HIERARCHY [IF EXISTS] name."""

    name: Name
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowHierarchies:
    """SHOW HIERARCHIES."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExplainHierarchies:
    """EXPLAIN HIERARCHIES FOR RELEASE name."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InterpretPredicate:
    """INTERPRET RELEASE name [VERSION number] [PASSING OTHERS] WHERE predicate."""

    name: QualifiedName
    predicate: str = field(repr=False)
    """Its text: what it means depends on the columns of the release."""
    passes_others: bool = False
    version: int | None = None
    """Whose results they are; None: those of the newest."""
    span: Span | None = field(default=None, compare=False, repr=False)
    predicate_span: Span | None = field(default=None, compare=False, repr=False)
    version_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InterpretTable:
    """INTERPRET RELEASE name [VERSION number] TABLE results."""

    name: QualifiedName
    table: QualifiedName
    version: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    table_span: Span | None = field(default=None, compare=False, repr=False)
    version_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PlainSql:
    """Anything that is not ours: handed to DuckDB letter by letter."""

    text: str = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ReleaseName:
    """A release as a list of releases names it."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PublishRelease:
    """PUBLISH RELEASE name [, name …] TO 'path' [(FORMAT word)] [WITH ( options )]."""

    releases: tuple[ReleaseName, ...]
    path: str
    format: str = "duckdb"
    """Folded; which formats there are is not known here."""
    options: tuple[Option, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)
    format_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateAgreement:
    """CREATE AGREEMENT name ( rules )."""

    name: Name
    rules: tuple[ColumnRule, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DropAgreement:
    """DROP AGREEMENT [IF EXISTS] name."""

    name: Name
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExportAgreement:
    """EXPORT AGREEMENT name TO 'file'."""

    name: Name
    path: str
    span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImportAgreement:
    """IMPORT AGREEMENT FROM 'file'."""

    path: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DescribeAgreement:
    """DESCRIBE AGREEMENT name."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowAgreements:
    """SHOW AGREEMENTS."""

    span: Span | None = field(default=None, compare=False, repr=False)


AgreementStatement: TypeAlias = (
    CreateAgreement
    | DropAgreement
    | ExportAgreement
    | ImportAgreement
    | DescribeAgreement
    | ShowAgreements
)


@dataclass(frozen=True, slots=True)
class AuditRelease:
    """AUDIT RELEASE name [AGAINST table] [INTO schema] [TO 'report.html']."""

    name: QualifiedName
    against: QualifiedName | None = None
    """A table that somebody outside may have."""
    into: Name | None = None
    """The schema that gets the audit as tables."""
    path: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    against_span: Span | None = field(default=None, compare=False, repr=False)
    into_span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)


ReleaseStatement: TypeAlias = (
    CreateRelease
    | DropRelease
    | RefreshRelease
    | ShowReleases
    | DescribeRelease
    | ExplainRelease
    | InterpretPredicate
    | InterpretTable
    | PublishRelease
)
HierarchyStatement: TypeAlias = (
    CreateHierarchy | DropHierarchy | ShowHierarchies | ExplainHierarchies
)
OwnStatement: TypeAlias = ReleaseStatement | HierarchyStatement | AgreementStatement | AuditRelease
Statement: TypeAlias = OwnStatement | PlainSql
