"""What is written of one release: its rows in an order of their own, and what is checked of them."""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.engine.sql import column_of, table_of
from ppdm_sql.errors import EngineError, Refused, TreatmentError, plural
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.groups.run import Generalizing
from ppdm_sql.language.syntax import TableSource
from ppdm_sql.lifecycle.averages import noise_that_averages
from ppdm_sql.lifecycle.identifying import identifying_aggregates, identifying_columns
from ppdm_sql.lifecycle.twins import find_twins
from ppdm_sql.names import STORE_CATALOG, Name, QualifiedName
from ppdm_sql.release.acceptance import settle
from ppdm_sql.release.compile import KEYED_ROWS, KEYS, counts_query, source_table
from ppdm_sql.treatments.kernels.shuffle import shuffle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.language.syntax import Source
    from ppdm_sql.publish.artefact import Snapshot
    from ppdm_sql.release.acceptance import Acceptance
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.version import Version

SHUFFLE = Kernel("ppdm_shuffle", ("DOUBLE",), "UBIGINT", shuffle)
"""Registered when the owner connects."""
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
def settled(version: Version) -> Iterator[Version]:
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
    copy = QualifiedName.of("temp", "main", f"ppdm_source_{secrets.token_hex(8)}")
    columns = [column_of(name.text, _ROWS) for name in _used_columns(release)]
    rows = exp.select(*columns).from_(source_table(release.source, _ROWS))
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    engine.run(exp.Create(this=table_of(copy), kind="TABLE", expression=rows, properties=temporary))
    try:
        yield replace(version, release=replace(release, source=TableSource(copy)))
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
    grouping = find_grouping(release)
    if grouping is not None and grouping.when is not None:
        names += [Name(node.name) for node in grouping.when.tree.find_all(exp.Column)]
    return list(dict.fromkeys(names))


def as_published(snapshot: Snapshot, is_parquet: bool) -> list[exp.Expr]:
    """Return the columns as they are published: in types that any client reads."""
    return [_published(name, type_, is_parquet) for name, type_ in snapshot.columns]


def shuffled(snapshot: Snapshot, shown: Sequence[exp.Expr]) -> exp.Select:
    """Return the SELECT that writes a snapshot, in an order unrelated to any other."""
    # Of a random number, so that DuckDB asks anew for each row.
    draw = exp.Anonymous(this=SHUFFLE.name, expressions=[_random()])
    columns = (tree.copy() for tree in shown)
    return exp.select(*columns).from_(snapshot.rows()).order_by(draw)


def check_again(version: Version, accepted: tuple[Acceptance, ...]) -> None:
    """Refuse what CREATE RELEASE would refuse of the rows as they are now."""
    query = counts_query(version, identifying_aggregates(version.release))
    if query is not None:
        (found,) = version.engine.query(query).to_pylist()
        settle(identifying_columns(version, found)[0], accepted)
        if KEYS in found:
            settle(noise_that_averages(version.release, found[KEYED_ROWS], found[KEYS]), accepted)
    settle(find_twins(version), accepted)


def verify_targets(version: Version, accepted: tuple[Acceptance, ...]) -> tuple[str, ...]:
    """Hold the rows of today against what a version promises; return the targets it reaches.

    GENERALIZE is measured again: rows that came since the release was made are in it, too. Raises
    when a target is missed; then nothing is published.
    """
    version.check_types()
    grouping = find_grouping(version.release)
    if grouping is None:
        return ()
    generalizing = Generalizing(version, lambda _: None)
    population = generalizing.population()
    generalizing.verify(population)
    linked = generalizing.linked_rows(population)
    objection = generalizing.linking_objection(linked)
    settle([objection] if objection else [], accepted)
    only = " (high class only)" if grouping.when is not None else ""
    said = [f"{target}{only}" for target in grouping.targets]
    if linked is not None:
        said.append(f"k = {linked.k} over all rows of a person{only}")
    if grouping.hides_sensitive(version.release):
        said.append("rows kept as * show no SENSITIVE value")
    return tuple(said)


def check_pseudonyms(version: Version, written: exp.Expr, columns: Sequence[str]) -> None:
    """Raise when other keys made fewer names of as many values."""
    usual = version.select().subquery(exp.to_identifier(_ROWS, quoted=True))
    before, after = (_distinct(version.engine, rows, columns) for rows in (usual, written.copy()))
    for column, expected, found in zip(columns, before, after, strict=True):
        if found < expected:
            lost = plural(expected - found, "value")
            raise TreatmentError(
                f"pseudonym: {lost} of '{column}' would get the same pseudonym as another",
                hint="publish again, which draws another key; or write a longer one: length => …",
                code="names_collide",
            )


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


def _published(name: str, type_: str, is_parquet: bool) -> exp.Expr:
    """Return a column as it is published: the type of an ENUM lists values that no row has."""
    if _UNREADABLE.search(_ENUM.sub("", type_)):
        raise Refused(
            f"column '{name}' is of a type that older clients cannot read",
            hint="cast it in a (SELECT …) source",
            code="wrong_type",
        )
    column: exp.Expr = _column(name)
    plain = _ENUM.sub("VARCHAR", type_).replace(_NULL, "INTEGER")
    if is_parquet and plain in ("HUGEINT", "UHUGEINT"):
        plain = "DECIMAL(38,0)"  # DuckDB would write a DOUBLE, which is another number
    if plain != type_:
        column = exp.Cast(this=column, to=exp.var(plain))
    return exp.alias_(column, exp.to_identifier(name, quoted=True))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _random() -> exp.Expr:
    """Return DuckDB's own `random()`: a macro of that name could stand before it."""
    words = [exp.to_identifier("system"), exp.to_identifier("main")]
    return exp.Dot.build([*words, exp.Anonymous(this="random")])
