"""A release after binding: every name resolved, every treatment checked against its columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ppdm_sql.engine.targets import DUCKDB
from ppdm_sql.language.syntax import Role
from ppdm_sql.treatments.generalized_column import Generalize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlglot import exp

    from ppdm_sql.engine.targets import SqlTarget
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import CreateAgreement, QuerySource, Source
    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.release.acceptance import Acceptance
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.treatments.traits import Traits
    from ppdm_sql.treatments.treatment import Treatment
    from ppdm_sql.types import ColumnType


FORMULA = 5
"""How treatments of new releases compute; a stored version keeps the formula it was made with."""


@dataclass(frozen=True, slots=True)
class Step:
    """One treatment of a rule, and where it stands in the script."""

    treatment: Treatment = field(repr=False)
    slot: str
    """Name of its place in the release: prefixes its parameters and tables."""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BoundRule:
    """One line of a release with its columns resolved."""

    columns: tuple[InputColumn, ...]
    names: tuple[Name, ...]
    """The names under which they are released: as the script spells them."""
    role: Role
    steps: tuple[Step, ...]
    is_released: bool
    span: Span | None = field(default=None, compare=False, repr=False)
    is_private: bool = False
    """Under an agreement: whether its parameters are this site's alone."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of its treatments, in order."""
        return tuple(step.treatment.keyword for step in self.steps)

    @property
    def traits(self) -> tuple[Traits, ...]:
        """What may be relied on in its treatments, in order."""
        return tuple(step.treatment.traits for step in self.steps)

    @property
    def is_generalized(self) -> bool:
        """Whether GENERALIZE treats it."""
        return any(isinstance(step.treatment, Generalize) for step in self.steps)

    @property
    def output_types(self) -> tuple[ColumnType, ...]:
        """The types that leave."""
        if self.steps:
            return self.steps[-1].treatment.output_types()
        return tuple(column.type for column in self.columns)


class RowClause(Protocol):
    """A clause that decides over whole rows, such as GENERALIZE: what a release knows of it."""

    def select(self, plan: Plan) -> exp.Select:
        """Return the SELECT of the whole release."""
        ...

    def waiting(self, plan: Plan) -> exp.Select:
        """Return a SELECT that counts the rows it withholds until the release is refreshed."""
        ...


class Storage(Protocol):
    """Where a version of a release keeps its parameters and tables."""

    def parameter_table(self) -> QualifiedName:
        """Return the name of the one-row table of parameters."""
        ...

    def lookup_table(self, slot: str, table: str) -> QualifiedName:
        """Return the name of one of a treatment's tables."""
        ...


@dataclass(frozen=True, slots=True)
class Release:
    """What a CREATE RELEASE means for its source."""

    name: QualifiedName
    source: Source
    rules: tuple[BoundRule, ...]
    row_key: InputColumn | None = None
    """The key of a row, where a treatment is fixed for each row."""
    execution: str = "native"
    """`native` SQL expressions, or `udf`: the Python kernels."""
    grouping: RowClause | None = None
    """GENERALIZE, where the release has one."""
    agreement: Name | None = None
    """The agreement with other sites that everything is drawn from."""
    formula: int = FORMULA
    """How its treatments compute."""
    accepted: tuple[Acceptance, ...] = ()
    """What its owner accepts, although it was objected to."""

    @property
    def released_rules(self) -> tuple[BoundRule, ...]:
        """The rules whose columns leave."""
        return tuple(rule for rule in self.rules if rule.is_released)

    @property
    def key(self) -> InputColumn | None:
        """The KEY, which says whom a row is about, whether it is released or not."""
        return next((rule.columns[0] for rule in self.rules if rule.role is Role.KEY), None)

    @property
    def depth(self) -> int:
        """Length of the longest chain of treatments."""
        return max((len(rule.steps) for rule in self.released_rules), default=0)

    def stage(self, index: int) -> Iterator[tuple[BoundRule, Step]]:
        """Return the treatments that stand at one place of their chains."""
        for rule in self.released_rules:
            if index < len(rule.steps):
                yield rule, rule.steps[index]


@dataclass(frozen=True)
class Plan:
    """What SQL is made of: a release, where its parameters are, and whom the SQL is for."""

    release: Release
    storage: Storage
    target: SqlTarget = DUCKDB


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column as the source has it."""

    name: Name
    type: ColumnType


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or view that a name stands for."""

    name: QualifiedName
    """Catalog, schema and name, as the engine spells them."""
    is_temporary: bool
    view_sql: str | None = field(default=None, repr=False)
    """The text of a view; None for a table."""
    has_renamed_columns: bool = False
    """Whether a view gives its columns other names than its SELECT does."""
    is_hidden: bool = False
    """Whether a temporary table of its name would be read in its place."""
    generated_sql: str | None = field(default=None, repr=False)
    """The text of a table that has generated columns; None for any other."""


class SourceCatalog(Protocol):
    """What binding asks of an engine about sources."""

    def columns(self, source: Source) -> tuple[SourceColumn, ...]:
        """Return the columns of a source; raise `EngineError` when it cannot be read."""
        ...

    def resolve(self, name: QualifiedName) -> Relation | None:
        """Return the table or view that a name stands for."""
        ...

    def missing_database(self, name: QualifiedName) -> str | None:
        """Return where the database of a table was that the store remembers, if it is not there."""
        ...

    def is_macro(self, name: Name) -> bool:
        """Whether a function is a macro of the owner's, which may read anything."""
        ...

    def macro_texts(self) -> dict[str, str]:
        """Return what the macros of the owner's say, by their names."""
        ...

    def is_release(self, name: QualifiedName) -> bool:
        """Whether a view is a release, by its full name."""
        ...

    def primary_key(self, source: Source) -> Name | None:
        """Return the one column of a table's PRIMARY KEY, if it has such."""
        ...

    def check_query(self, source: QuerySource) -> None:
        """Raise, with its place, when a source in parentheses is not one SELECT."""
        ...

    def base_tables(self, source: Source) -> tuple[QualifiedName, ...]:
        """Return the tables a source reads in the end, behind views and macros."""
        ...

    def agreement(self, name: Name) -> CreateAgreement | None:
        """Return an agreement with other sites, as it was made."""
        ...

    def agreement_names(self) -> tuple[str, ...]:
        """Return the names of all agreements."""
        ...

    def relation_names(self) -> tuple[str, ...]:
        """Return the names of all tables and views a source could be."""
        ...
