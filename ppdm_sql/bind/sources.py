"""What a release reads: names made complete, so that it means the same wherever it is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.errors import BindError, Refused, suggest
from ppdm_sql.model.syntax import FileSource, QuerySource, Source, TableSource
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.model.release import Relation, SourceCatalog
    from ppdm_sql.model.syntax import CreateRelease

_FILES = (".parquet", ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")


def resolve_source(statement: CreateRelease, catalog: SourceCatalog) -> Source:
    """Return the source with catalog, schema and absolute paths written out."""
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
            return replace(source, query=_complete(statement, source, catalog))


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


def _complete(statement: CreateRelease, source: QuerySource, catalog: SourceCatalog) -> exp.Query:
    query = source.query.copy()
    own_names = {Name(cte.alias) for cte in query.find_all(exp.CTE)}
    for table in list(query.find_all(exp.Table)):
        if not isinstance(table.this, exp.Identifier):
            continue  # a table function
        name = QualifiedName(tuple(Name(part.name) for part in table.parts))
        if len(name.parts) == 1 and name.name in own_names:
            continue
        if name.schema == OWNER_SCHEMA:
            _refuse_store(source.span)
        relation = catalog.resolve(name)
        if relation is None:
            continue  # a file name; anything else fails when the engine reads the source
        _check_relation(statement, relation, source.span)
        parts = [exp.to_identifier(part.text, quoted=True) for part in relation.name.parts]
        if not table.alias:
            table.set("alias", exp.TableAlias(this=table.this.copy()))
        for slot, part in zip(("catalog", "db", "this"), parts, strict=True):
            table.set(slot, part)
    return query


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


def _refuse_store(span: Span | None) -> None:
    raise Refused(f"nothing is released from the owner's store '{OWNER_SCHEMA}'", span)
