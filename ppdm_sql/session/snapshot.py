"""What is written of one release: its rows in an order of their own, and what is checked of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.compile.release import compile_release
from ppdm_sql.compile.targets import DUCKDB
from ppdm_sql.errors import InternalError, Refused, TreatmentError, plural
from ppdm_sql.kernels.shuffle import shuffle
from ppdm_sql.model.transform import Kernel
from ppdm_sql.session.creation import check_types
from ppdm_sql.session.generalizing import Generalizing
from ppdm_sql.store import catalog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.compile.query import Storage
    from ppdm_sql.model.release import Release
    from ppdm_sql.session.engine import Engine
    from ppdm_sql.store.catalog import ColumnEntry, Entry

SHUFFLE = Kernel("ppdm_shuffle", ("DOUBLE",), "UBIGINT", shuffle)
"""Registered before a snapshot is written."""
_ROWS = "s"
_ENUM = re.compile(r"ENUM\((?:[^()']|'(?:[^']|'')*')*\)")
# What DuckDB 1.4 cannot read, or a file of storage version 1.2 cannot hold (tried, one by one).
_UNREADABLE = re.compile(r"\b(?:VARIANT|GEOMETRY|TIME_NS|TIMESTAMPTZ_NS|TUPLE)\b|\bSTRUCT(?!\()")
_NULL = '"NULL"'


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

    Reads the very rows that will be published, in the transaction that wrote them. Raises when
    they are not what was promised; then nothing is published.
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
