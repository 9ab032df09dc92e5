"""What SHOW, DESCRIBE and EXPLAIN answer: values for Python, tables for SQL."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import to_sql
from ppdm_sql.engine.targets import TARGETS
from ppdm_sql.errors import BindError, PpdmError, PrivacyWarning, placed_at, suggest
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.groups.run import Generalizing
from ppdm_sql.lifecycle.make_version import called
from ppdm_sql.names import STORE_CATALOG, Name, QualifiedName, chain, quote
from ppdm_sql.release.compile import release_select
from ppdm_sql.release.version import definition_of
from ppdm_sql.store import catalog
from ppdm_sql.store.figures import list_figures
from ppdm_sql.treatments.generalized_column import Generalize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from ppdm_sql.errors import Span
    from ppdm_sql.groups.hierarchies import HierarchyInfo
    from ppdm_sql.language.syntax import DescribeRelease, ExplainHierarchies, ExplainRelease
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.store.catalog import ColumnEntry, Entry
    from ppdm_sql.store.figures import VersionFigure
    from ppdm_sql.treatments.treatment import Treatment


@dataclass(frozen=True, slots=True)
class ReleaseInfo:
    """One row of SHOW RELEASES."""

    release: str
    version: int
    source: str
    columns: int
    """How many columns leave."""
    rows: int
    """Rows that left when this version was made; records left out by GENERALIZE are not counted."""
    waiting: int | None
    """Rows withheld because their quasi-identifiers are new; None if the source cannot be read."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ColumnInfo:
    """One row of DESCRIBE RELEASE; never a parameter."""

    column: str
    role: str
    treatment: str
    type: str | None
    undone_by: str | None
    """What gives the original values back to an outsider."""
    inverse: str | None
    """How exactly the owner gets them back."""
    note: str | None
    """What the treatments say of what they did."""


_SHOW = pa.schema(
    {
        "release": pa.string(),
        "version": pa.int32(),
        "source": pa.string(),
        "columns": pa.int32(),
        "rows": pa.int64(),
        "waiting": pa.int64(),
        "created_at": pa.timestamp("s"),
    }
)
_NOT_ALL = "time ran out: some minimal nodes may be missing, and some listed not be minimal"
_FIGURES = pa.schema({"figure": pa.string(), "value": pa.float64(), "note": pa.string()})
_HIERARCHIES = pa.schema(
    {
        "hierarchy": pa.string(),
        "kind": pa.string(),
        "height": pa.int32(),
        "listed_values": pa.int64(),
        "created_at": pa.timestamp("s"),
    }
)
_DESCRIBE = pa.schema(dict.fromkeys(ColumnInfo.__dataclass_fields__, pa.string()))


def treatments_table(treatments: Sequence[type[Treatment]]) -> pa.Table:
    """Return SHOW TREATMENTS as a table."""
    rows = [
        {
            "treatment": one.keyword,
            "arguments": ", ".join(argument.name for argument in one.arguments),
            "what_it_does": one.summary,
            "undone_by": one.undone_by,
            "inverse": str(one.exactness),
        }
        for one in treatments
    ]
    return pa.Table.from_pylist(rows, schema=pa.schema(dict.fromkeys(rows[0], pa.string())))


def list_releases(releases: Releases) -> list[ReleaseInfo]:
    """Return all releases of a store, by name."""
    entries = catalog.list_entries(releases.engine)
    return [
        _info(entry, waiting)
        for entry, waiting in zip(entries, _waiting(releases, entries), strict=True)
    ]


def describe_release(releases: Releases, statement: DescribeRelease) -> list[ColumnInfo]:
    """Return the columns of a release: role, treatment, what it resists."""
    entry = releases.entry(statement.name, statement.span)
    return [
        _column(column, releases.treatments)
        for column in catalog.list_columns(releases.engine, entry)
    ]


def explain_release(releases: Releases, statement: ExplainRelease) -> str:
    """Return the SELECT of a release for an engine. It names the owner's tables, no value."""
    target = TARGETS.get(statement.target)
    if target is None:
        raise BindError(
            f"unknown engine '{statement.target}'",
            statement.target_span,
            suggest(statement.target, TARGETS, "engines"),
            code="unknown_engine",
        )
    entry = releases.entry(statement.name, statement.span)
    with placed_at(statement.span):
        select = release_select(replace(releases.open(entry), target=target))
    for table in select.find_all(exp.Table):
        if Name(table.catalog) == STORE_CATALOG:
            table.set("catalog", None)  # an alias of ours: the file has its own name elsewhere
    for text in select.find_all(exp.Var):
        text.set("this", str(text.this).replace(f"{quote(STORE_CATALOG.text)}.", ""))
    return to_sql(select, target.dialect, pretty=True)


def release_figures(
    releases: Releases, name: QualifiedName, span: Span | None = None
) -> list[VersionFigure]:
    """Return what GENERALIZE of a release reached and cost; empty without one."""
    return list_figures(releases.engine, releases.entry(name, span).storage)


def explain_hierarchies(releases: Releases, statement: ExplainHierarchies) -> pa.Table:
    """Return every minimal node of a release's lattice, on the source as it is now."""
    entry = releases.entry(statement.name, statement.span)
    version = releases.open(entry, statement.span)
    grouping = find_grouping(version.release)
    if grouping is None:
        raise BindError(
            f"release '{entry.name}' has no GENERALIZE", statement.span, code="no_generalize"
        )
    if grouping.suppresses_cells:
        raise BindError(
            f"'{entry.name}' suppresses cells at levels that are given: there are none to choose from",
            statement.span,
            "DESCRIBE RELEASE has what it did",
            code="no_generalize",
        )
    minimal = Generalizing(version, releases.on_stage).minimal_nodes()
    if not minimal.is_proven:
        warnings.warn(_NOT_ALL, PrivacyWarning, stacklevel=2)
    nodes = minimal.found
    names = [column.name.text for column in grouping.columns]
    arrays = [pa.array([node.levels[i] for node in nodes], pa.int32()) for i in range(len(names))]
    arrays += [
        pa.array([node.loss for node in nodes], pa.float64()),
        pa.array([node.suppressed_rows for node in nodes], pa.int64()),
    ]
    # By position: a column of the release may be called loss.
    return pa.Table.from_arrays(arrays, names=[*names, "loss", "rows_suppressed"])


def figures_table(figures: Sequence[VersionFigure]) -> pa.Table:
    """Return figures as a table."""
    return pa.Table.from_pylist([asdict(figure) for figure in figures], schema=_FIGURES)


def hierarchies_table(infos: Sequence[HierarchyInfo]) -> pa.Table:
    """Return SHOW HIERARCHIES as a table."""
    return pa.Table.from_pylist([asdict(info) for info in infos], schema=_HIERARCHIES)


def show_table(infos: Sequence[ReleaseInfo]) -> pa.Table:
    """Return SHOW RELEASES as a table."""
    return pa.Table.from_pylist([asdict(info) for info in infos], schema=_SHOW)


def describe_table(infos: Sequence[ColumnInfo]) -> pa.Table:
    """Return DESCRIBE RELEASE as a table."""
    return pa.Table.from_pylist([asdict(info) for info in infos], schema=_DESCRIBE)


def explain_table(text: str) -> pa.Table:
    """Return EXPLAIN RELEASE as a table."""
    return pa.table({"sql": [text]})


def _info(entry: Entry, waiting: int | None) -> ReleaseInfo:
    facts = entry.facts
    # Versions of earlier programs do not say what their source is called.
    source = facts.source or called(definition_of(entry).source)
    return ReleaseInfo(
        str(entry.name),
        entry.version,
        source,
        entry.released_columns,
        facts.released_rows,
        waiting,
        entry.created_at.replace(microsecond=0),
    )


def _waiting(releases: Releases, entries: Sequence[Entry]) -> list[int | None]:
    """Count the rows that GENERALIZE withholds until REFRESH; None where a source is not there.

    Queries are bound before they run: one that fails while it runs would end the owner's
    transaction.
    """
    queries = [_waiting_query(releases, entry) for entry in entries]
    if not _can_be_asked(releases, queries):
        queries = [query if _can_be_asked(releases, [query]) else None for query in queries]
    asked = [query for query in queries if query]
    counts = iter(_counts(releases, asked))
    return [None if query is None else next(counts) if query else 0 for query in queries]


def _can_be_asked(releases: Releases, queries: Sequence[str | None]) -> bool:
    try:
        asked = [query for query in queries if query]
        if asked:
            releases.engine.columns(_together(asked))
    except PpdmError:
        return False
    return True


def _counts(releases: Releases, queries: Sequence[str]) -> list[int]:
    if not queries:
        return []
    (row,) = releases.engine.query(_together(queries)).to_pylist()
    return list(row.values())


def _together(queries: Sequence[str]) -> exp.Select:
    # A Var is written as it is: SQL of ours, made when the version was.
    counts = [
        exp.alias_(exp.Paren(this=exp.Var(this=query)), exp.to_identifier(f"n{at}", quoted=True))
        for at, query in enumerate(queries)
    ]
    return exp.select(*counts)


def _waiting_query(releases: Releases, entry: Entry) -> str | None:
    """Return what counts waiting rows; empty without GENERALIZE, None where it cannot be said.

    Versions of earlier programs do not have it written down.
    """
    if entry.facts.waiting is not None or entry.facts.suppressed_rows is None:
        return entry.facts.waiting or ""
    try:
        version = releases.open(entry)
    except PpdmError:
        return None
    grouping = version.release.grouping
    return "" if grouping is None else to_sql(grouping.waiting(version))


def _column(column: ColumnEntry, treatments: Sequence[type[Treatment]]) -> ColumnInfo:
    if not column.treatments:
        return ColumnInfo(column.name, column.role, "stays with the owner", None, None, None, None)
    all_of_them: tuple[type[Treatment], ...] = (*treatments, Generalize)
    words = {treatment.keyword: treatment for treatment in all_of_them}
    known = [words[word] for word in column.treatments if word in words]
    return ColumnInfo(
        column.name,
        column.role,
        chain(column.treatments),
        column.type,
        "; then ".join(treatment.undone_by for treatment in reversed(known)),
        ", ".join(dict.fromkeys(treatment.exactness.value for treatment in known)),
        column.note,
    )
