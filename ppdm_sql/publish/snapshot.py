"""The snapshot: what goes out is materialised once, checked as it is, and compared with the file.

The person behind a row and its sensitive originals are kept beside it for that, and not written.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.errors import InternalError, Refused
from ppdm_sql.groups.compile import HIGH, find_grouping, grouped_select, high_flag
from ppdm_sql.groups.queries import distinguishable
from ppdm_sql.language.syntax import Role, TableSource
from ppdm_sql.names import STORE_CATALOG, Name
from ppdm_sql.release.compile import rows_with, source_table
from ppdm_sql.release.version import released
from ppdm_sql.treatments.kernels.shuffle import shuffle
from ppdm_sql.types import ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.language.syntax import Source
    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.version import Version

ROWS, PERSON, STAR = "s", "ppdm_person", "ppdm_star"
SHUFFLE = Kernel("ppdm_shuffle", ("DOUBLE",), "UBIGINT", shuffle)
"""Registered when the owner connects."""
_ENUM = re.compile(r"ENUM\((?:[^()']|'(?:[^']|'')*')*\)")
# What DuckDB 1.4 cannot read, or a file of storage version 1.2 cannot hold (tried, one by one).
_UNREADABLE = re.compile(r"\b(?:VARIANT|GEOMETRY|TIME_NS|TIMESTAMPTZ_NS|TUPLE)\b|\bSTRUCT(?!\()")
_NULL = '"NULL"'
_STORED = (
    "SELECT table_name FROM system.main.duckdb_tables() WHERE database_name = ? AND schema_name = ?"
    " AND table_name = ? AND NOT system.main.contains(sql, 'GENERATED')"
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows of a version as they go out, with what they are checked by beside them."""

    version: Version
    table: QualifiedName
    columns: tuple[tuple[str, str], ...]
    """The released columns with their types; the table has more."""
    identifiers: tuple[tuple[str, Name], ...]
    """Columns of the table that hold an IDENTIFIER, and how it is called."""

    def rows(self) -> exp.Table:
        """Return the table as it stands behind FROM."""
        return table_of(self.table, ROWS)

    def count(self) -> int:
        """Return how many rows go out."""
        return self.counts([exp.Count(this=exp.Star())])[0]

    def persons(self) -> int | None:
        """Return how many persons they are about; None without a KEY."""
        if self.version.release.key is None:
            return None
        return self.counts([exp.Count(this=exp.Distinct(expressions=[column_of(PERSON, ROWS)]))])[0]

    def counts(self, counts: Sequence[exp.Expr]) -> list[int]:
        """Count several things in one pass over the rows."""
        shown = [named(tree, f"c{index}") for index, tree in enumerate(counts)]
        (row,) = self.version.engine.query(exp.select(*shown).from_(self.rows())).to_pylist()
        return [int(value or 0) for value in row.values()]  # of nothing but NULLs, it is NULL


@contextmanager
def frozen_source(version: Version) -> Iterator[Version]:
    """Give a version whose source gives the same rows to whoever reads it.

    A query or a view may draw, a file may change: what is verified and what is written would be
    different rows. So the columns that are used are copied first, beside the owner's database and
    for this transaction only. A table of the owner's stays the same in a transaction; and where
    nothing is verified, nothing is copied.
    """
    release, engine = version.release, version.engine
    if release.grouping is None or _stays(engine, release.source):
        yield version
        return
    columns = [column_of(name.text, ROWS) for name in _used_columns(release)]
    rows = exp.select(*columns).from_(source_table(release.source, ROWS))
    with engine.temporary_table("ppdm_source", rows) as copy:
        yield replace(version, release=replace(release, source=TableSource(copy)))


def _stays(engine: Engine, source: Source) -> bool:
    """Whether a source is a table of the owner's own database, without computed columns."""
    if not isinstance(source, TableSource) or source.name.catalog != STORE_CATALOG:
        return False
    found = engine.query(_STORED, tuple(part.text for part in source.name.parts))
    return bool(found.num_rows)


def _used_columns(release: Release) -> list[Name]:
    """Return the columns of the source that a release or its condition names, each once."""
    names = [column.name for rule in release.rules for column in rule.columns]
    names += [release.row_key.name] if release.row_key is not None else []
    grouping = find_grouping(release)
    if grouping is not None and grouping.when is not None:
        names += [Name(node.name) for node in grouping.when.tree.find_all(exp.Column)]
    return list(dict.fromkeys(names))


@contextmanager
def taken(version: Version, more: Mapping[str, exp.Expr]) -> Iterator[Snapshot]:
    """Give a version's rows as they are now, beside the owner's database and for a while.

    `more` is kept beside them.
    """
    engine = version.engine
    carried, identifiers = _carried(version)
    carried |= more
    grouping = find_grouping(version.release)
    rows = (
        rows_with(version, carried)
        if grouping is None
        else grouped_select(version, carried, suppressed_flag=STAR)
    )
    columns = engine.columns(version.select())
    if [name for name, _ in columns] != [column.name for column in released(version.columns)]:
        raise InternalError(f"the columns of '{version.entry.name}' are not those of its version")
    with engine.temporary_table("ppdm_snapshot", rows) as table:
        yield Snapshot(version, table, tuple(columns), identifiers)


def sensitive_column(index: int) -> str:
    """Return the name under which the original of a sensitive column is kept."""
    return f"ppdm_sensitive_{index}"


def _carried(version: Version) -> tuple[dict[str, exp.Expr], tuple[tuple[str, Name], ...]]:
    """Return what is kept beside the rows: person, IDENTIFIERs, sensitive originals, high class."""
    carried: dict[str, exp.Expr] = {}
    identifiers: list[tuple[str, Name]] = []
    for rule in version.release.rules:
        if rule.role is Role.KEY:
            carried[PERSON] = exact(_of_source(rule.columns[0].name), rule.columns[0].type)
        elif rule.role is Role.IDENTIFIER:
            for column, name in zip(rule.columns, rule.names, strict=True):
                kept = f"ppdm_identifier_{len(identifiers)}"
                carried[kept] = exp.cast(_of_source(column.name), "VARCHAR")
                identifiers.append((kept, name))
    grouping = find_grouping(version.release)
    for index, column in enumerate(grouping.sensitive if grouping else ()):
        carried[sensitive_column(index)] = distinguishable(_of_source(column.name), column.type)
    if grouping is not None and grouping.when is not None:
        carried[HIGH] = high_flag(grouping.when)
    return carried, tuple(identifiers)


def exact(person: exp.Expr, type_: ColumnType) -> exp.Expr:
    """Return whom a row is about, letter by letter: a column that ignores case would mix persons."""
    if type_.kind is not Kind.TEXT:
        return person
    return exp.Collate(this=person, expression=exp.to_identifier("C", quoted=True))


def _of_source(name: Name) -> exp.Column:
    return exp.column(exp.to_identifier(name.text, quoted=True))


def as_published(snapshot: Snapshot, is_parquet: bool) -> list[exp.Expr]:
    """Return the columns as they are published: in types that any client reads."""
    return [_published(name, type_, is_parquet) for name, type_ in snapshot.columns]


def shuffled(snapshot: Snapshot, shown: Sequence[exp.Expr]) -> exp.Select:
    """Return the SELECT that writes a snapshot, in an order unrelated to any other."""
    # Of a random number, so that DuckDB asks anew for each row.
    draw = exp.Anonymous(this=SHUFFLE.name, expressions=[_random()])
    columns = (tree.copy() for tree in shown)
    return exp.select(*columns).from_(snapshot.rows()).order_by(draw)


def _published(name: str, type_: str, is_parquet: bool) -> exp.Expr:
    """Return a column as it is published: the type of an ENUM lists values that no row has."""
    if _UNREADABLE.search(_ENUM.sub("", type_)):
        raise Refused(
            f"column '{name}' is of a type that older clients cannot read",
            hint="cast it in a (SELECT …) source",
            code="wrong_type",
        )
    column: exp.Expr = exp.column(exp.to_identifier(name, quoted=True))
    plain = _ENUM.sub("VARCHAR", type_).replace(_NULL, "INTEGER")
    if is_parquet and plain in ("HUGEINT", "UHUGEINT"):
        plain = "DECIMAL(38,0)"  # DuckDB would write a DOUBLE, which is another number
    if plain != type_:
        column = exp.Cast(this=column, to=exp.var(plain))
    return exp.alias_(column, exp.to_identifier(name, quoted=True))


def _random() -> exp.Expr:
    """Return DuckDB's own `random()`: a macro of that name could stand before it."""
    words = [exp.to_identifier("system"), exp.to_identifier("main")]
    return exp.Dot.build([*words, exp.Anonymous(this="random")])
