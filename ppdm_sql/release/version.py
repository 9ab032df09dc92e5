"""A version of a release, opened: bound once to its source as it is now, with all it needs to run.

Nobody else parses or binds a stored definition. PUBLISH, AUDIT, INTERPRET, DESCRIBE and REFRESH
start from a `Version`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, placed_at
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease
from ppdm_sql.release.compile import release_select
from ppdm_sql.release.lineage import is_plain
from ppdm_sql.release.model import Plan
from ppdm_sql.store import catalog, parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlglot import exp

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.parameters import DrawnBySlot
    from ppdm_sql.release.model import Release
    from ppdm_sql.store.catalog import ColumnEntry, Entry


@dataclass(frozen=True)
class Version(Plan):
    """What the store knows of a version, the release it means, and the engine it runs on."""

    engine: Engine = field(kw_only=True, repr=False)
    entry: Entry = field(kw_only=True)
    statement: CreateRelease = field(kw_only=True, repr=False)
    """The statement that made it."""

    def select(self) -> exp.Select:
        """Return the SELECT that analysts read."""
        return release_select(self)

    @cached_property
    def parameters(self) -> DrawnBySlot:
        """What its treatments fixed for good, by slot; read from the store once."""
        steps = (step for rule in self.release.released_rules for step in rule.steps)
        slots = [step.slot for step in steps]
        return parameters.read_drawn(self.engine, self.entry.storage, slots, self.entry.tables)

    @cached_property
    def columns(self) -> tuple[ColumnEntry, ...]:
        """Its columns as the store lists them; read once."""
        return tuple(catalog.list_columns(self.engine, self.entry))

    def check_types(self) -> None:
        """Raise when a column of the source has another type than when the version was made."""
        rules = self.release.rules
        columns = {
            name.text: column
            for rule in rules
            for name, column in zip(rule.names, rule.columns, strict=True)
        }
        for entry in self.columns:
            column = columns.get(entry.name)  # none for the end of a range, which is no line
            if column is not None and entry.source_type != str(column.type):
                raise BindError(
                    f"the type of '{column.name}' was {entry.source_type} and is {column.type} now",
                    hint="write CREATE OR REPLACE RELEASE: its stored parameters do not fit any more",
                    code="source_changed",
                )


def open_version(
    engine: Engine, entry: Entry, bind: Callable[[CreateRelease], Release], span: Span | None
) -> Version:
    """Parse and bind a stored definition; errors in it point at `span`."""
    with placed_at(span):
        statement = definition_of(entry)
        release = replace(bind(statement), formula=entry.formula)
    return Version(release, entry.storage, engine=engine, entry=entry, statement=statement)


def definition_of(entry: Entry) -> CreateRelease:
    """Return the statement that made a version, as the store keeps it."""
    statements = parse_script(entry.definition)
    if len(statements) != 1 or not isinstance(statements[0], CreateRelease):
        raise catalog.damaged(f"the definition of '{entry.name}' cannot be read")
    return statements[0]


def released(columns: Sequence[ColumnEntry]) -> list[ColumnEntry]:
    """Return the columns that leave."""
    return [column for column in columns if column.treatments]


def same_persons(one: Version, other: Version) -> bool:
    """Tell whether rows of two versions are matched by their KEYs: one column of one table.

    A KEY that is computed, `id::DOUBLE` or `'P' || id`, is another text for the same person, or the
    same for another.
    """
    mine, theirs = one.release.key, other.release.key
    if mine is None or theirs is None:
        return False
    return mine.identity == theirs.identity and (
        (is_plain(mine) and is_plain(theirs)) or one.release.source == other.release.source
    )
