"""What is written of one release: its rows in an order of their own, and what is checked of them."""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.compile.query import source_table
from ppdm_sql.compile.release import compile_release
from ppdm_sql.compile.render import column_of, table_of
from ppdm_sql.compile.targets import DUCKDB
from ppdm_sql.errors import EngineError, InternalError, Refused, TreatmentError, plural
from ppdm_sql.kernels.shuffle import shuffle
from ppdm_sql.model.syntax import TableSource
from ppdm_sql.model.transform import Kernel
from ppdm_sql.names import STORE_CATALOG, Name, QualifiedName
from ppdm_sql.session.creation import check_types
from ppdm_sql.session.generalizing import Generalizing
from ppdm_sql.store import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.compile.query import Storage
    from ppdm_sql.model.release import Release
    from ppdm_sql.model.syntax import Source
    from ppdm_sql.session.engine import Engine
    from ppdm_sql.store.catalog import ColumnEntry, Entry

SHUFFLE = Kernel("ppdm_shuffle", ("DOUBLE",), "UBIGINT", shuffle)
"""Registered before a snapshot is written."""
_ROWS = "s"
_ENUM = re.compile(r"ENUM\((?:[^()']|'(?:[^']|'')*')*\)")
# What DuckDB 1.4 cannot read, or a file of storage version 1.2 cannot hold (tried, one by one).
_UNREADABLE = re.compile(r"\b(?:VARIANT|GEOMETRY|TIME_NS|TIMESTAMPTZ_NS|TUPLE)\b|\bSTRUCT(?!\()")
_NULL = '"NULL"'
_STORED = (
    "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND schema_name = ?"
    " AND table_name = ? AND NOT system.main.contains(sql, 'GENERATED')"
)


@contextmanager
def settled(engine: Engine, release: Release) -> Iterator[Release]:
    """Give a release whose source gives the same rows to whoever reads it.

    A query or a view may draw, a file may change: what is verified and what is written would be
    different rows. So the columns that are used are copied first, beside the owner's database and
    for this transaction only. A table of the owner's stays the same in a transaction; and where
    nothing is verified, nothing is copied.
    """
    if release.grouping is None or _stays(engine, release.source):
        yield release
        return
    copy = QualifiedName.of("temp", "main", f"ppdm_source_{secrets.token_hex(8)}")
    columns = [column_of(name.text, _ROWS) for name in _used_columns(release)]
    rows = exp.select(*columns).from_(source_table(release.source, _ROWS))
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    engine.run(exp.Create(this=table_of(copy), kind="TABLE", expression=rows, properties=temporary))
    try:
        yield replace(release, source=TableSource(copy))
    finally:
        with suppress(EngineError):  # in an aborted transaction it is gone already
            engine.run(exp.Drop(tables=[table_of(copy)], kind="TABLE"))


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
    if release.grouping is not None and release.grouping.when is not None:
        names += [Name(node.name) for node in release.grouping.when.tree.find_all(exp.Column)]
    return list(dict.fromkeys(names))


def snapshot_query(engine: Engine, release: Release, storage: Storage) -> exp.Select:
    """Return the SELECT that writes a release, in an order unrelated to any other."""
    rows = compile_release(release, storage, DUCKDB)
    shown = [_published(name, type_) for name, type_ in engine.columns(rows)]
    source = rows.subquery(exp.to_identifier(_ROWS, quoted=True))
    # Of a random number, so that DuckDB asks anew for each row.
    draw = exp.Anonymous(this=SHUFFLE.name, expressions=[_random()])
    return exp.select(*shown).from_(source).order_by(draw)


def verify_snapshot(
    engine: Engine, entry: Entry, release: Release, written: exp.Expr
) -> tuple[str, ...]:
    """Hold what was written against what this version promises; return the targets it reaches.

    The release is settled: targets are measured on the rows that were written. Raises when they
    are not what was promised; then nothing is published.
    """
    columns = catalog.list_columns(engine, entry)
    check_types(release, columns)
    found = [name for name, _ in engine.columns(exp.select("*").from_(written.copy()))]
    if found != [column.name for column in released(columns)]:
        raise InternalError(f"the columns of '{entry.name}' are not those of its version")
    return _verify_targets(engine, entry, release)


def _verify_targets(engine: Engine, entry: Entry, release: Release) -> tuple[str, ...]:
    """Measure GENERALIZE again: rows that came since the release was made are in it, too."""
    if release.grouping is None:
        return ()
    generalizing = Generalizing(engine, release, entry.storage, lambda _: None)
    generalizing.verify(generalizing.population())
    only = " (high class only)" if release.grouping.when is not None else ""
    return tuple(f"{target}{only}" for target in release.grouping.targets)


def check_pseudonyms(
    engine: Engine, release: Release, storage: Storage, written: exp.Expr, columns: Sequence[str]
) -> None:
    """Raise when other keys made fewer names of as many values."""
    usual = compile_release(release, storage, DUCKDB).subquery(
        exp.to_identifier(_ROWS, quoted=True)
    )
    before, after = (_distinct(engine, rows, columns) for rows in (usual, written.copy()))
    for column, expected, found in zip(columns, before, after, strict=True):
        if found < expected:
            lost = plural(expected - found, "value")
            raise TreatmentError(
                f"pseudonym: {lost} of '{column}' would share a pseudonym with another",
                hint="publish again, which draws another key; or write a longer one: length => …",
            )


def released(columns: Sequence[ColumnEntry]) -> list[ColumnEntry]:
    """Return the columns that leave."""
    return [column for column in columns if column.treatments]


def _distinct(engine: Engine, rows: exp.Expr, columns: Sequence[str]) -> list[int]:
    counts = [
        exp.alias_(
            exp.Count(this=exp.Distinct(expressions=[_column(column)])),
            exp.to_identifier(f"c{index}", quoted=True),
        )
        for index, column in enumerate(columns)
    ]
    (row,) = engine.query(exp.select(*counts).from_(rows)).to_pylist()
    return list(row.values())


def _published(name: str, type_: str) -> exp.Expr:
    """Return a column as it is published: the type of an ENUM lists values that no row has."""
    if _UNREADABLE.search(_ENUM.sub("", type_)):
        raise Refused(
            f"column '{name}' is of a type that older clients cannot read",
            hint="cast it in a (SELECT …) source",
        )
    column: exp.Expr = _column(name)
    plain = _ENUM.sub("VARCHAR", type_).replace(_NULL, "INTEGER")
    if plain != type_:
        column = exp.Cast(this=column, to=exp.var(plain))
    return exp.alias_(column, exp.to_identifier(name, quoted=True))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _random() -> exp.Expr:
    """Return DuckDB's own `random()`: a macro of that name could stand before it."""
    words = [exp.to_identifier("system"), exp.to_identifier("main")]
    return exp.Dot.build([*words, exp.Anonymous(this="random")])
