"""AGAINST: a table that somebody outside may have, read to be compared with a release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.audit.read import sql
from ppdm_sql.audit.read.matching import Shared, climbed, match
from ppdm_sql.audit.read.version import flags_of
from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import BindError, EngineError, suggest
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.names import Name, fold
from ppdm_sql.release.sources import Sources
from ppdm_sql.types import ColumnType, Kind

if TYPE_CHECKING:
    import pyarrow as pa

    from ppdm_sql.audit.attacks.protocol import Background
    from ppdm_sql.audit.read.sql import AuditedColumn
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.language.syntax import AuditRelease
    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.version import Version


_FILES = ("csv", "parquet", "json")


def read_background(
    version: Version, statement: AuditRelease, table: pa.Table, left_out: list[str]
) -> Background:
    """Return the background beside the rows of a release that were read."""
    engine, release = version.engine, version.release
    assert statement.against is not None
    select = exp.select("*").from_(table_of(statement.against))
    try:
        names = {Name(name): ColumnType(type_) for name, type_ in engine.columns(select)}
    except EngineError as error:
        if Sources(engine).resolve(statement.against) is None:
            raise _no_such_table(engine, statement, statement.against) from None
        raise _unreadable(error, statement) from None
    columns = sql.audited_columns(release)
    grouping = find_grouping(release)
    shared = [
        (index, column)
        for index, column in enumerate(columns)
        if sql.shown_column(index) in table.column_names and column.source.name in names
    ]
    if not shared:
        raise BindError(
            f"'{statement.against}' has no column that the release shows as QUASI",
            statement.against_span,
            "its columns are compared by name with QUASI columns that are kept or generalized",
            code="unknown_column",
        )
    wanted = {sql.text_column(index): column.source for index, column in shared}
    person = sql.person_column(release)
    has_key = person is not None and person.name in names
    if person is not None and has_key:
        wanted[sql.PERSON] = person
    climbing = {
        sql.original_column(index): column.source
        for index, column in shared
        if column.is_generalized
    }
    try:
        rows = engine.query(sql.background_rows(statement.against, wanted, climbing))
    except EngineError as error:
        raise _unreadable(error, statement) from None
    left_out += [
        f"linking may find too few: '{column.source.name}' is {names[column.source.name]} in"
        f" {statement.against} and text in the source, and numbers have no leading zeros"
        for _, column in shared
        if column.source.type.kind is Kind.TEXT
        and names[column.source.name].kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)
    ]
    rows = rows.combine_chunks()
    found = match(
        [
            Shared(
                column.name.text,
                table.column(sql.text_column(index)).combine_chunks(),
                table.column(sql.shown_column(index)).combine_chunks(),
                rows.column(sql.text_column(index)).combine_chunks(),
                column.is_generalized,
                _groups(release, index, column, table, rows),
            )
            for index, column in shared
        ],
        grouping is not None and grouping.when is None,
        (
            table.column(sql.PERSON).combine_chunks(),
            rows.column(sql.PERSON).combine_chunks(),
        )
        if has_key
        else None,
        flags_of(table, sql.IS_SUPPRESSED),
    )
    assert found is not None
    return found


def _groups(
    release: Release, index: int, column: AuditedColumn, table: pa.Table, rows: pa.Table
) -> pa.Array | None:
    """Return what the release would show of a background's column; None where it cannot be told."""
    grouping = find_grouping(release)
    if grouping is None or not column.is_generalized:
        return None
    shape = next(c.hierarchy.shape for c in grouping.columns if c.name == column.name)
    value, text = sql.original_column(index), sql.text_column(index)
    read = [(table, value), (table, text), (table, sql.shown_column(index))]
    read += [(rows, value), (rows, text)]
    return climbed(shape, *(part.column(name).combine_chunks() for part, name in read))


def _unreadable(error: EngineError, statement: AuditRelease) -> EngineError:
    error.what = f"the background cannot be read: {error.what}"
    return error.at(statement.against_span)


def _no_such_table(engine: Engine, statement: AuditRelease, name: QualifiedName) -> BindError:
    """Return an error of our own: DuckDB takes `voters.csv` for a file and withholds its text."""
    known = Sources(engine).relation_names()
    hint = suggest(str(name), known, "tables and views")
    path = ".".join(part.text for part in name.parts)
    if fold(path).rpartition(".")[2] in _FILES:
        hint = f"a file is read into a table first: CREATE TABLE background AS FROM '{path}'"
    return BindError(
        f"there is no table or view '{name}'", statement.against_span, hint, code="unknown_table"
    )
