"""Where an audit's report goes: an answer, tables of a schema, a file."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from ppdm_sql.audit.report.document import to_json
from ppdm_sql.audit.report.model import Report
from ppdm_sql.audit.report.page import to_html
from ppdm_sql.audit.report.tables import SCHEMAS, attacks_table, figures_table, report_tables
from ppdm_sql.delivery.outside_file import drafts_of, put_instead, write_draft
from ppdm_sql.engine.result import Result
from ppdm_sql.errors import PpdmError, Refused
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName, fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import AuditRelease


_COLUMNS_OF_SCHEMA = (
    "SELECT table_name, column_name FROM system.main.duckdb_columns() WHERE database_name = ? AND"
    " lower(schema_name) = lower(?) ORDER BY table_oid ASC, column_index ASC"
)
_VIEWS_OF_SCHEMA = "SELECT view_name FROM system.main.duckdb_views() WHERE database_name = ? AND lower(schema_name) = lower(?)"
_FORMS = (".json", ".html", ".htm")


class Written(Protocol):
    """A report that can be written to a file."""

    @property
    def is_internal(self) -> bool:
        """Whether it is for the owner alone."""
        ...

    def to_html(self) -> str:
        """Return it as one page."""
        ...

    def to_json(self) -> str:
        """Return it as JSON."""
        ...


@dataclass(frozen=True, slots=True)
class _OfRelease:
    """The report of one release, as it is written."""

    report: Report

    @property
    def is_internal(self) -> bool:
        return self.report.is_internal

    def to_html(self) -> str:
        return to_html(_for_file(self.report))

    def to_json(self) -> str:
        return to_json(_for_file(self.report))


def audit_result(report: Report, statement: AuditRelease) -> Result:
    """Return an audit as a statement answers it: the verdict, the figures, the attacks."""
    message = "\n".join((*report.verdict, *written_to(statement.into, statement.path)))
    hint = "all of them: TO 'report.html', INTO a schema, or `ppdm audit`"
    more = Result(attacks_table(report), hint=hint)
    return Result(figures_table(report), message, more=more, hint=hint)


def written_to(schema: Name | str | None, *paths: str | None) -> list[str]:
    """Return what to say of the places that a report was written to."""
    tables = [] if schema is None else [f"wrote the tables {schema}.audit_…"]
    return tables + [f"wrote {path}" for path in paths if path is not None]


def check_places(engine: Engine, statement: AuditRelease) -> None:
    """Raise where a report could not go, before the audit takes its time."""
    if statement.into == OWNER_SCHEMA:
        raise Refused(
            "an audit is not written into the owner's store",
            statement.into_span,
            code="owner_store",
        )
    if statement.into is not None:
        _check_tables(engine, statement.into, statement.into_span)
    if statement.path is not None:
        check_file(Path(statement.path), statement.path_span)


def check_file(path: Path, span: Span | None = None) -> None:
    """Raise unless a report can be written under this name."""
    if path.suffix.lower() not in _FORMS:
        raise PpdmError(
            f"a report is written as .html or .json, not as '{path.suffix or path.name}'",
            span,
            code="unknown_format",
        )
    if path.is_dir():
        raise PpdmError(
            f"'{path}' cannot be written: it is a folder", span, code="wrong_kind_of_file"
        )
    if not path.parent.is_dir():
        raise PpdmError(
            f"'{path}' cannot be written: there is no such folder",
            span,
            f"make it first: mkdir -p '{path.parent}'",
            code="no_such_file",
        )


def _check_tables(engine: Engine, schema: Name, span: Span | None) -> None:
    """Raise where something else than an earlier audit has the name of a table."""
    found: dict[str, list[str]] = {}
    for table, column in zip(
        *engine.query(_COLUMNS_OF_SCHEMA, (STORE_CATALOG.text, schema.text)).to_pydict().values(),
        strict=True,
    ):
        found.setdefault(fold(table), []).append(column)
    views = engine.query(_VIEWS_OF_SCHEMA, (STORE_CATALOG.text, schema.text))
    for name, columns in SCHEMAS.items():
        is_view = name in map(fold, views.column(0).to_pylist())
        if is_view or found.get(name, columns.names) != columns.names:
            raise Refused(
                f"'{schema}.{name}' already exists and was not written by an audit",
                span,
                "write INTO another schema, or drop it first",
                code="target_taken",
            )


def write_tables(engine: Engine, report: Report, schema: Name) -> None:
    """Write an audit as tables of a schema, in place of those of an earlier audit."""
    place = exp.Table(
        db=exp.to_identifier(schema.text, quoted=True),
        catalog=exp.to_identifier(STORE_CATALOG.text, quoted=True),
    )
    with engine.transaction():
        engine.run(exp.Create(this=place, kind="SCHEMA", exists=True))
        for name, table in report_tables(_for_file(report)).items():
            engine.create_table(QualifiedName((STORE_CATALOG, schema, Name(name))), table)


def _for_file(report: Report) -> Report:
    """Leave out what exact figures decided: asked well, met and not met tell the figure."""
    return report if report.is_internal else replace(report, outcomes=())


@contextmanager
def written_beside(
    report: Report | Written, paths: Sequence[Path], span: Span | None = None
) -> Iterator[None]:
    """Write an audit beside where it goes, as JSON or HTML; put all in place after the block.

    Where the block fails, or anything is ended before, nothing is left.
    """
    written = _OfRelease(report) if isinstance(report, Report) else report
    with drafts_of(paths) as drafts:
        for path, draft in zip(paths, drafts, strict=True):
            with _writing_errors(path, span):
                _write(written, path, draft)
        yield
        for path, draft in zip(paths, drafts, strict=True):
            with _writing_errors(path, span):
                put_instead(draft, path)


@contextmanager
def _writing_errors(path: Path, span: Span | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PpdmError(
            f"'{path}' cannot be written: {error.strerror}", span, code="not_written"
        ) from None


def _write(report: Written, path: Path, draft: Path) -> None:
    text = report.to_json() if path.suffix.lower() == ".json" else report.to_html()
    # Parameters are in an internal report: only the owner may read it.
    mode = 0o600 if report.is_internal else 0o644
    write_draft(draft, text.encode(), mode)
