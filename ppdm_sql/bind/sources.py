"""What a release reads: names made complete, so that it means the same wherever it is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from ppdm_sql.bind.lineage import parse_query, visible_ctes
from ppdm_sql.errors import BindError, Refused, suggest
from ppdm_sql.model.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName, quote

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.model.release import Relation, SourceCatalog
    from ppdm_sql.model.syntax import CreateRelease

_FILES = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
_STORE_TABLES = frozenset(Name(name) for name in ("store", "releases", "versions", "columns"))


def resolve_source(statement: CreateRelease, catalog: SourceCatalog) -> Source:
    """Return the source with catalog, schema and absolute paths written out."""
    source = _complete(statement, catalog)
    # The engine sees through views, macros and query(): nothing of the store may be behind them.
    # Parameters of another release may: its view is a source like any other.
    for name in catalog.base_tables(source):
        if name.schema == OWNER_SCHEMA and name.name in _STORE_TABLES:
            _refuse_store(source.span)
    return source


def _complete(statement: CreateRelease, catalog: SourceCatalog) -> Source:
    source = statement.source
    match source:
        case TableSource():
            relation = catalog.resolve(source.name)
            if relation is None:
                raise BindError(
                    f"there is no table or view '{source.name}'",
                    source.span,
                    suggest(str(source.name), catalog.relation_names(), "tables and views"),
                )
            _check_relation(statement, relation, source.span)
            return replace(source, name=relation.name)
        case FileSource():
            return _absolute(source)
        case QuerySource():
            catalog.check_query(source)
            return _qualified(statement, source, catalog)


def _absolute(source: FileSource) -> FileSource:
    if not source.path.lower().endswith(_FILES):
        raise BindError(
            "a file is read as Parquet or CSV by the end of its name",
            source.span,
            f"it must end in one of {', '.join(_FILES)}",
        )
    if "://" in source.path:
        return source
    return replace(source, path=str(Path(source.path).absolute()))


def _qualified(
    statement: CreateRelease, source: QuerySource, catalog: SourceCatalog
) -> QuerySource:
    """Write the names of tables in full and leave every other letter as it is.

    A view looks names up in its own schema first: an unqualified one could later mean another
    table. Where sqlglot cannot read the text, it stays as it is, and DuckDB has the last word.
    """
    query = parse_query(source.text)
    if query is None:
        return source
    text = source.text
    found = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
    for table in sorted(found, key=lambda table: -int(table.parts[0].meta.get("start", 0))):
        name = QualifiedName(tuple(Name(part.name) for part in table.parts))
        if len(name.parts) == 1 and name.name in visible_ctes(table):
            continue
        if name.schema == OWNER_SCHEMA:
            _refuse_store(source.span)
        relation = catalog.resolve(name)
        if relation is None:
            continue  # a file; anything else fails when DuckDB reads the source
        _check_relation(statement, relation, source.span)
        first, last = table.parts[0].meta, table.parts[-1].meta
        if "start" in first and "end" in last:
            full = ".".join(quote(part.text) for part in relation.name.parts)
            text = text[: first["start"]] + full + text[last["end"] + 1 :]
    return replace(source, text=text)


def _check_relation(statement: CreateRelease, relation: Relation, span: Span | None) -> None:
    catalog, schema, name = relation.name.parts
    if schema == OWNER_SCHEMA:
        _refuse_store(span)
    if relation.is_temporary:
        raise BindError(
            f"'{name}' is temporary: a release must outlive the connection",
            span,
            "make it a table",
        )
    if catalog == STORE_CATALOG and (schema, name) == statement.name.parts:
        raise BindError("a release cannot be its own source", span)


def _refuse_store(span: Span | None) -> NoReturn:
    raise Refused(f"nothing is released from the owner's store '{OWNER_SCHEMA}'", span)
