"""What a release reads: names made complete, so that it means the same wherever it is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp

from ppdm_sql.errors import BindError, Refused, suggest
from ppdm_sql.language.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.language.tokens import Shape, words
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName, fold, quote
from ppdm_sql.release.lineage import written_source
from ppdm_sql.release.select_trees import parse_query, table_name, visible_ctes

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import CreateRelease
    from ppdm_sql.release.model import Relation, SourceCatalog

# The engine does not say which tables these are; of one name in quotes it does.
_NAMED_BY_VALUE = re.compile(r"\bquery_table\s*\(\s*(?!'[^']*'\s*[,)])", re.IGNORECASE)
_FILES = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")


def resolve_source(statement: CreateRelease, catalog: SourceCatalog) -> Source:
    """Return the source with catalog, schema and absolute paths written out."""
    source = _complete(statement, catalog)
    if _may_call(catalog, source) and _NAMED_BY_VALUE.search(written_source(catalog, source)):
        raise Refused(
            "query_table() of a list, or of a computed name, may read any table",
            source.span,
            "name the tables: FROM a UNION ALL BY NAME FROM b",
            code="ambiguous_source",
        )
    allowed = _tables_of_releases(catalog, source)
    # The engine sees through views, macros and query(): nothing of the store may be behind them.
    for name in catalog.base_tables(source):
        relation = catalog.resolve(name)
        if relation is None:
            continue
        if relation.name.schema == OWNER_SCHEMA and relation.name.name not in allowed:
            _refuse_store(source.span)
        if relation.is_temporary:
            _refuse_temporary(relation, source.span)
        if isinstance(source, QuerySource) and len(name.parts) == 1:
            _refuse_unclear(name, relation, source)
    return source


def _may_call(catalog: SourceCatalog, source: Source) -> bool:
    """Whether a source is more than a table or a file."""
    if isinstance(source, TableSource):
        relation = catalog.resolve(source.name)
        return relation is not None and relation.view_sql is not None
    return isinstance(source, QuerySource)


def _tables_of_releases(catalog: SourceCatalog, source: Source) -> set[Name]:
    """Return the tables of the store that a source may reach: those of releases it reads.

    Follows views as far as they can be read, and refuses one that reads the store itself: where
    the engine cannot say what is behind a source, this is what is left.
    """
    named = [source.name] if isinstance(source, TableSource) else []
    waiting = [parse_query(source.text)] if isinstance(source, QuerySource) else []
    allowed: set[Name] = set()
    seen: set[QualifiedName] = set()
    while waiting or named:
        if not named:
            query = waiting.pop()
            named = _named_in(query) if query is not None else []
            continue
        relation = catalog.resolve(named.pop())
        if relation is None or relation.name in seen:
            continue
        if relation.name.schema == OWNER_SCHEMA:
            _refuse_store(source.span)
        seen.add(relation.name)
        inner = parse_query(relation.view_sql) if relation.view_sql else None
        if inner is not None and catalog.is_release(relation.name):
            tables = list(inner.find_all(exp.Table))
            allowed |= {Name(table.name) for table in tables if Name(table.db) == OWNER_SCHEMA}
            named += [table_name(table) for table in tables if Name(table.db) != OWNER_SCHEMA]
        else:
            waiting.append(inner)
    return allowed


def _named_in(query: exp.Query) -> list[QualifiedName]:
    """Return the tables that a query names, without its own CTEs."""
    return [
        table_name(table)
        for table in query.find_all(exp.Table)
        if len(table.parts) > 1 or Name(table.name) not in visible_ctes(table)
    ]


def _refuse_unclear(name: QualifiedName, relation: Relation, source: QuerySource) -> None:
    """Refuse a table whose schema could not be written out: the view could read another one."""
    full = ".".join(quote(part.text) for part in relation.name.parts)
    if name.name.folded in fold(source.text.replace(full, "")):
        raise BindError(
            f"it is not clear which table '{name}' means here",
            source.span,
            f"write its schema: {QualifiedName(relation.name.parts[1:])}",
            code="ambiguous_source",
        )


def _complete(statement: CreateRelease, catalog: SourceCatalog) -> Source:
    source = statement.source
    match source:
        case TableSource():
            relation = catalog.resolve(source.name)
            if relation is None:
                _check_attached(source.name, source.span, catalog)
                raise BindError(
                    f"there is no table or view '{_as_written(source.name)}'",
                    source.span,
                    _file_hint(source.name)
                    or suggest(str(source.name), catalog.relation_names(), "tables and views"),
                    code="unknown_table",
                )
            _check_relation(statement, relation, source.span)
            return replace(source, name=relation.name)
        case FileSource():
            return _absolute(source)
        case QuerySource():
            catalog.check_query(source)
            _refuse_relative_paths(source)
            return _qualified(statement, source, catalog)


def _check_attached(name: QualifiedName, span: Span | None, catalog: SourceCatalog) -> None:
    """Say so where a table lies in a database that is not there any more."""
    path = catalog.missing_database(name)
    if path is not None:
        raise BindError(
            f"the database '{name.parts[0]}' is not attached: '{path}' is not there, or cannot be"
            " opened",
            span,
            f"write --attach '{name.parts[0]}=file.duckdb', or owner.attach('{name.parts[0]}', …)",
            code="not_attached",
        )


def _refuse_relative_paths(source: QuerySource) -> None:
    """Refuse a file whose name means another file in another folder."""
    for word in words(source.text):
        path = word.text
        if word.shape is not Shape.STRING or not path.lower().endswith(_FILES):
            continue
        if "://" not in path and not Path(path).is_absolute():
            raise BindError(
                f"the file '{path}' is a relative path, which is not allowed here",
                source.span,
                f"write the whole path: '{Path(path).absolute()}'",
                code="bad_path",
            )


def _absolute(source: FileSource) -> FileSource:
    if not source.path.lower().endswith(_FILES):
        raise BindError(
            "a file is read as Parquet or CSV by the end of its name",
            source.span,
            f"it must end in one of {', '.join(_FILES)}",
            code="bad_path",
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
        name = table_name(table)
        if len(name.parts) == 1 and name.name in visible_ctes(table):
            continue
        if name.schema == OWNER_SCHEMA:
            _refuse_store(source.span)
        relation = catalog.resolve(name)
        if relation is None:
            _check_attached(name, source.span, catalog)
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
    if relation.is_temporary or relation.is_hidden:
        _refuse_temporary(relation, span)
    if catalog == STORE_CATALOG and (schema, name) == statement.name.parts:
        raise BindError("a release cannot be its own source", span, code="own_source")


def _refuse_temporary(relation: Relation, span: Span | None) -> NoReturn:
    if relation.is_hidden:
        raise BindError(
            f"a temporary table hides '{relation.name.name}'",
            span,
            "drop or rename that one",
            code="ambiguous_source",
        )
    raise BindError(
        f"'{relation.name.name}' is temporary: a release must outlive the connection",
        span,
        "make it a table",
        code="temporary_source",
    )


def _refuse_store(span: Span | None) -> NoReturn:
    raise Refused(
        f"nothing is released from the owner's store '{OWNER_SCHEMA}'", span, code="owner_store"
    )


def _as_written(name: QualifiedName) -> str:
    """Return a name without the catalog that the owner never writes."""
    return str(QualifiedName(name.parts[1:]) if name.catalog == STORE_CATALOG else name)


def _file_hint(name: QualifiedName) -> str | None:
    if not str(name.name).lower().endswith((".csv", ".parquet", ".json", '.csv"', '.parquet"')):
        return None
    return f"a file is written in single quotes: FROM '{name.name.text}'"
