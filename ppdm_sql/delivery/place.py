"""Where a publication may go: nothing but an earlier publication is ever replaced."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.delivery.codebook import CODEBOOK, is_ours, page_beside
from ppdm_sql.delivery.destinations import csv_name, parquet_name
from ppdm_sql.delivery.release_info import INFO, INFO_KEY, INFO_TYPES
from ppdm_sql.errors import BindError, PpdmError, Refused
from ppdm_sql.foreign.files import ForeignFile
from ppdm_sql.foreign.process import Limits
from ppdm_sql.language.script import parse_name
from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.errors import Span

_AMBIGUOUS = frozenset({"main", "temp", "system"})
"""Names that every DuckDB database has already."""
_ALWAYS_LISTED = frozenset({"release", "version", "published_at", "rows", "publication"})
"""What every version of this program has written of a release; more came with the years."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where somebody wants a publication."""

    path: str
    is_folder: bool = False
    """Of Parquet files; else one database file."""
    span: Span | None = None


def target_of(place: Place, names: list[QualifiedName]) -> Path:
    """Return where to publish; refuse a place that is not free for it."""
    target = Path(place.path).absolute()
    is_file = not place.is_folder
    if not place.path or (is_file and (place.path.endswith("/") or target.is_dir())):
        raise BindError(
            "a database is published to a file",
            place.span,
            "write TO 'study.duckdb', or TO 'study/' for a folder of Parquet files",
            code="wrong_kind_of_file",
        )
    if not target.parent.is_dir():
        folder = Path(place.path).parent
        raise BindError(
            f"there is no folder '{folder}'",
            place.span,
            f"make it first: mkdir -p '{folder}'",
            code="no_such_file",
        )
    if target.suffix in (".wal", ".spill"):
        raise Refused(
            f"'{place.path}' has a name that DuckDB's own files have beside a database",
            place.span,
            "give the file another name",
            code="bad_path",
        )
    if target.is_symlink():
        raise Refused(
            f"'{place.path}' is a symbolic link",
            place.span,
            "name what it points to",
            code="symbolic_link",
        )
    if is_file:
        _check_stem(place, target, names)
    if target.exists() and not (_is_our_file(target) if is_file else _is_our_folder(target)):
        raise Refused(
            f"'{place.path}' already exists and is not a publication",
            place.span,
            "publish under another name, or remove it: nothing else is ever replaced",
            code="target_taken",
        )
    page = page_beside(target)
    if not is_file and page.exists() and not is_ours(page):
        raise Refused(
            f"'{page.name}' lies beside the target and is no codebook of a publication",
            place.span,
            "publish under another name, or remove it: nothing else is ever replaced",
            code="target_taken",
        )
    log = target.with_name(f"{target.name}.wal")
    if is_file and log.exists():
        raise Refused(
            f"'{log.name}' lies beside the target: a stale write-ahead log, which DuckDB would apply to the new file",
            place.span,
            "remove that file",
            code="stale_log",
        )
    return target


def _check_stem(place: Place, target: Path, names: list[QualifiedName]) -> None:
    """Refuse a file whose name is that of a schema: `study.patients` would be unclear in it."""
    stems = {Name(target.stem), Name(target.name.lstrip(".").partition(".")[0])}
    schemas = {name.parts[0] for name in names} | {Name(word) for word in _AMBIGUOUS}
    for schema in sorted(stems & schemas, key=str):
        raise Refused(
            f"a file '{target.name}' has the same name as the schema '{schema}': for whoever opens it,"
            f" '{schema}.…' would be ambiguous",
            place.span,
            "give the file another name",
            code="ambiguous_name",
        )


def _is_our_file(target: Path) -> bool:
    """Whether a file is what PUBLISH writes: its list, the releases listed there, nothing else.

    A store, and any other database that happens to have a `release_info`, holds something else.
    """
    if not target.is_file():
        return False
    try:
        with ForeignFile(target, Limits()) as file:
            if INFO not in file.tables:
                return False
            return _listed(lambda: file.rows(INFO).read_all()) == file.tables - {INFO, CODEBOOK}
    except PpdmError:  # no database, or more than tables
        return False


def _is_our_folder(target: Path) -> bool:
    """Whether a folder is empty, or holds releases as PUBLISH writes them and nothing else."""
    if not target.is_dir():
        return False
    paths = list(target.iterdir())
    if not all(path.is_file() for path in paths):
        return False
    csv_list = target / f"{INFO.name}.csv"
    if csv_list in paths:
        return _is_our_csv(csv_list, {path.name for path in paths})
    old_list = target / f"{INFO.name}.parquet"
    if old_list not in paths:
        return all(_is_our_parquet(path) for path in paths)
    import pyarrow.parquet  # only here: nobody else needs it, and it takes its time

    # What an earlier program published: the list was a file of its own.
    releases = _listed(lambda: pyarrow.parquet.read_table(old_list))
    found = {path.name for path in paths if path != old_list}
    return releases is not None and found == set(map(parquet_name, releases))


def _is_our_csv(csv_list: Path, names: set[str]) -> bool:
    """Whether a folder has the CSV files that its list says, and nothing else."""
    import pyarrow.csv  # only here: nobody else needs it

    releases = _listed(lambda: pyarrow.csv.read_csv(csv_list))
    beside = {csv_list.name, f"{CODEBOOK.name}.csv"}
    return releases is not None and names == beside | set(map(csv_name, releases))


def _is_our_parquet(path: Path) -> bool:
    """Whether a Parquet file says of itself that it is the release its name says."""
    import pyarrow.parquet  # only here: nobody else needs it, and it takes its time

    def said() -> pa.Table:
        metadata = pyarrow.parquet.read_metadata(path).metadata or {}
        return pa.Table.from_pylist([json.loads(metadata.get(INFO_KEY.encode(), b"{}"))])

    return {path.name} == set(map(parquet_name, _listed(said) or ()))


def _listed(read: Callable[[], pa.Table]) -> frozenset[QualifiedName] | None:
    """Return the releases that a publication says it holds; None if its list is not one of ours."""
    try:
        info = read()
        if not _ALWAYS_LISTED <= set(info.column_names) <= set(INFO_TYPES.names):
            return None
        return frozenset(parse_name(str(name)) for name in info.column("release").to_pylist())
    except (PpdmError, OSError, TypeError, ValueError, AttributeError, pa.ArrowException):
        return None
