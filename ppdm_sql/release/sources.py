"""What binding asks about sources, answered from the engine's catalog as it is at one moment."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.errors import BindError, EngineError, Span, StatementError
from ppdm_sql.language.error_places import place_in
from ppdm_sql.language.script import parse_table
from ppdm_sql.language.syntax import FileSource, TableSource
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName
from ppdm_sql.release.agreed import agreement_statement
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import base_column
from ppdm_sql.release.model import Relation, SourceColumn
from ppdm_sql.store import agreements, attachments, catalog
from ppdm_sql.types import ColumnType

if TYPE_CHECKING:
    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.language.syntax import CreateAgreement, QuerySource, Source

_MAIN = Name("main")
_PATTERN = re.compile(r"[*?\[{]|://")
_COLUMN_LIST = re.compile(r'CREATE VIEW (?:"(?:[^"]|"")*"|[^\s("])+ ?\(')
_CONSTRAINTS = (
    "SELECT database_name, schema_name, table_name, constraint_type AS kind,"
    " constraint_column_names AS columns, referenced_table, referenced_column_names AS referenced"
    " FROM system.main.duckdb_constraints()"
    " WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')"
)
_RELATIONS = (
    "SELECT database_name, schema_name, table_name AS name, temporary, NULL AS sql,"
    " CASE WHEN system.main.contains(sql, 'GENERATED') THEN sql END AS generated,"
    " system.main.contains(sql, 'FOREIGN KEY') AS refers,"
    " database_name = system.main.current_database() AS here, schema_name = system.main.current_schema() AS near"
    " FROM system.main.duckdb_tables() UNION ALL "
    "SELECT database_name, schema_name, view_name, temporary, sql, NULL, false,"
    " database_name = system.main.current_database(), schema_name = system.main.current_schema()"
    " FROM system.main.duckdb_views() WHERE NOT internal"
)

_MACROS = (
    "SELECT DISTINCT function_name AS name, macro_definition AS text FROM system.main.duckdb_functions()"
    " WHERE NOT internal AND system.main.contains(function_type, 'macro')"
)


class Sources:
    """The tables and views that are there while one statement runs; the catalog is read once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._columns: dict[Source, tuple[SourceColumn, ...]] = {}
        self._base_tables: dict[Source, tuple[QualifiedName, ...]] = {}

    def columns(self, source: Source) -> tuple[SourceColumn, ...]:
        """Return the columns of a source; raise `EngineError` when it cannot be read."""
        if source not in self._columns:
            self._columns[source] = self._read_columns(source)
        return self._columns[source]

    def _read_columns(self, source: Source) -> tuple[SourceColumn, ...]:
        if isinstance(source, FileSource) and _is_missing(source.path):
            raise no_such_file(source.path, source.span)
        select = exp.select("*").from_(source_table(source)).limit(0)
        try:
            found = self._engine.columns(select)
        except EngineError as error:
            error.what = f"the source cannot be read: {error.what}"
            raise error.at(source.span) from None
        return tuple(SourceColumn(Name(name), ColumnType(type_)) for name, type_ in found)

    def check_query(self, source: QuerySource) -> None:
        """Raise, with its place, when a source in parentheses is not one SELECT."""
        try:
            is_select = self._engine.is_one_select(source.text)
        except EngineError as error:
            error.what = f"this SELECT cannot be read: {error.what}"
            if source.span is None:
                raise
            start = source.span.start + source.span.source.index(source.text)
            inside = Span(source.span.text, start, start + len(source.text))
            raise error.at(place_in(inside, error.engine_text)) from None
        if not is_select:
            raise StatementError(
                "a source in parentheses must be one SELECT", source.span, code="not_a_select"
            )

    def resolve(self, name: QualifiedName) -> Relation | None:
        """Return the table or view that a name stands for, as DuckDB would find it."""
        matches = [row for row in self._relations if _matches(row, name)]
        if not matches:
            return None
        row = min(matches, key=lambda row: (not row["temporary"], not row["here"], not row["near"]))
        parts = QualifiedName.of(row["database_name"], row["schema_name"], row["name"])
        renamed = bool(row["sql"] and _COLUMN_LIST.match(row["sql"]))
        # DuckDB forgets the catalog of a view's tables, and in `main` temporary ones come first.
        is_hidden = Name(row["schema_name"]) == _MAIN and any(
            other["temporary"] and Name(other["name"]) == parts.name for other in self._relations
        )
        hidden = is_hidden and not row["temporary"]
        return Relation(parts, row["temporary"], row["sql"], renamed, hidden, row["generated"])

    def missing_database(self, name: QualifiedName) -> str | None:
        """Return where the database of a table was that the store remembers, if it is not there."""
        first = name.parts[0] if len(name.parts) > 1 else None
        path = attachments.missing(self._engine, first)
        return None if path is None else str(path)

    def is_macro(self, name: Name) -> bool:
        """Whether a function is a macro of the owner's."""
        return any(Name(one) == name for one, _ in self._macros)

    def macro_texts(self) -> dict[str, str]:
        """Return what the macros of the owner's say, by their names."""
        found: dict[str, str] = {}
        for name, text in sorted(self._macros):
            found[name] = f"{found.get(name, name)}: {text}"  # some have several forms
        return found

    @cached_property
    def _macros(self) -> list[tuple[str, str]]:
        rows = self._engine.query(_MACROS)
        return [(row["name"], row["text"]) for row in rows.to_pylist()]

    def base_tables(self, source: Source) -> tuple[QualifiedName, ...]:
        """Return the tables a source reads in the end, behind views and macros."""
        if source not in self._base_tables:
            select = exp.select("*").from_(source_table(source))
            names = self._engine.base_tables(select)
            self._base_tables[source] = tuple(parse_table(name) for name in names)
        return self._base_tables[source]

    def is_release(self, name: QualifiedName) -> bool:
        """Whether a view is a release, by its full name."""
        if not any(Name(row["schema_name"]) == OWNER_SCHEMA for row in self._relations):
            return False
        entries = catalog.list_entries(self._engine)
        return any((STORE_CATALOG, *entry.name.parts) == name.parts for entry in entries)

    def primary_key(self, source: Source) -> Name | None:
        """Return the one column of a table's PRIMARY KEY, if it has such."""
        columns = self.primary_columns(source)
        return columns[0] if len(columns) == 1 else None

    def primary_columns(self, source: Source) -> list[Name]:
        """Return all columns of a table's PRIMARY KEY."""
        if not isinstance(source, TableSource) or len(source.name.parts) != 3:
            return []
        keys = [
            row["columns"]
            for row in self._constraints
            if row["kind"] == "PRIMARY KEY" and _table_of(row) == source.name
        ]
        return [Name(column) for column in keys[0]] if len(keys) == 1 else []

    @cached_property
    def foreign_keys(self) -> dict[str, tuple[QualifiedName, Name]]:
        """What each column that is declared a FOREIGN KEY refers to; of one column alone."""
        found: dict[str, tuple[QualifiedName, Name]] = {}
        refers = any(row["refers"] for row in self._relations)
        for row in self._constraints if refers else ():
            if row["kind"] == "FOREIGN KEY" and len(row["columns"]) == 1:
                table = _table_of(row)
                there = QualifiedName((*table.parts[:2], Name(row["referenced_table"])))
                origin = base_column(table, Name(row["columns"][0]))
                found.setdefault(origin, (there, Name(row["referenced"][0])))
        return found

    def is_unique(self, table: QualifiedName, column: Name) -> bool:
        """Whether a table is declared to have each value of a column once."""
        return any(
            row["kind"] != "FOREIGN KEY"
            and [Name(one) for one in row["columns"]] == [column]
            and _table_of(row) == table
            for row in self._constraints
        )

    @cached_property
    def _constraints(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._engine.query(_CONSTRAINTS).to_pylist()
        return rows

    def agreement(self, name: Name) -> CreateAgreement | None:
        """Return an agreement with other sites, as it was made."""
        found = agreements.find_agreement(self._engine, name)
        return agreement_statement(found) if found is not None else None

    def agreement_names(self) -> tuple[str, ...]:
        """Return the names of all agreements."""
        return tuple(str(one.name) for one in agreements.list_agreements(self._engine))

    def relation_names(self) -> tuple[str, ...]:
        """Return the names of all tables and views a source could be."""
        return tuple(
            str(QualifiedName.of(row["schema_name"], row["name"]))
            for row in self._relations
            if not row["temporary"] and Name(row["schema_name"]) != OWNER_SCHEMA
        )

    @cached_property
    def _relations(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self._engine.query(_RELATIONS).to_pylist()
        return rows


def no_such_file(path: str, span: Span | None) -> BindError:
    """Return an error that says where was looked: a relative name is one from here."""
    return BindError(
        "there is no such file", span, f"looked for '{Path(path).absolute()}'", code="no_such_file"
    )


def _is_missing(path: str) -> bool:
    return not _PATTERN.search(path) and not Path(path).exists()


def _matches(row: dict[str, Any], name: QualifiedName) -> bool:
    if Name(row["name"]) != name.name:
        return False
    database, schema = Name(row["database_name"]), Name(row["schema_name"])
    if name.catalog is not None:
        return (database, schema) == (name.catalog, name.schema)
    if name.schema is not None:
        in_schema = schema == name.schema and (row["here"] or row["temporary"])
        return in_schema or (database == name.schema and schema == _MAIN)
    return bool(row["temporary"] or (row["here"] and (row["near"] or schema == _MAIN)))


def _table_of(constraint: dict[str, Any]) -> QualifiedName:
    return QualifiedName.of(*(constraint[f"{one}_name"] for one in ("database", "schema", "table")))
