"""Where a publication may go: nothing but an earlier publication is ever replaced."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, Refused
from ppdm_sql.names import Name, QualifiedName
from ppdm_sql.session.destinations import INFO
from ppdm_sql.session.engine import tables_in

if TYPE_CHECKING:
    from ppdm_sql.model.syntax import PublishRelease

_AMBIGUOUS = frozenset({"main", "temp", "system"})
"""Names that every DuckDB database has already."""


def target_of(statement: PublishRelease, names: list[QualifiedName]) -> Path:
    """Return where to publish; refuse a place that is not free for it."""
    target = Path(statement.path).absolute()
    is_file = statement.format == "duckdb"
    if not statement.path or (is_file and (statement.path.endswith("/") or target.is_dir())):
        raise BindError(
            "a database is published to a file",
            statement.path_span,
            "write TO 'study.duckdb', or TO 'folder/' (FORMAT parquet)",
        )
    if not target.parent.is_dir():
        folder = Path(statement.path).parent
        raise BindError(
            f"there is no folder '{folder}'",
            statement.path_span,
            f"make it first: mkdir -p '{folder}'",
        )
    if target.is_symlink():
        raise Refused(
            f"'{statement.path}' is a symbolic link", statement.path_span, "name what it points to"
        )
    if is_file:
        _check_stem(statement, target, names)
    if target.exists() and not (_is_our_file(target) if is_file else _is_our_folder(target)):
        raise Refused(
            f"'{statement.path}' is there and is not a publication",
            statement.path_span,
            "publish under another name, or remove it: nothing else is ever replaced",
        )
    log = target.with_name(f"{target.name}.wal")
    if is_file and log.exists():
        raise Refused(
            f"'{log.name}' is beside it: whoever opens the new file would have it applied to it",
            statement.path_span,
            "remove that file",
        )
    return target


def _check_stem(statement: PublishRelease, target: Path, names: list[QualifiedName]) -> None:
    """Refuse a file whose name is that of a schema: `study.patients` would be unclear in it."""
    stems = {Name(target.stem), Name(target.name.lstrip(".").partition(".")[0])}
    schemas = {name.parts[0] for name in names} | {Name(word) for word in _AMBIGUOUS}
    for schema in sorted(stems & schemas, key=str):
        raise Refused(
            f"a file '{target.name}' is called like the schema '{schema}': to those who open it,"
            f" '{schema}.…' would not be clear",
            statement.path_span,
            "give the file another name",
        )


def _is_our_file(target: Path) -> bool:
    found = tables_in(target) if target.is_file() else None
    return found is not None and INFO in {QualifiedName.of(*row) for row in found}


def _is_our_folder(target: Path) -> bool:
    if not target.is_dir():
        return False
    found = {path.name for path in target.iterdir()}
    return not found or (
        f"{INFO.name}.parquet" in found and all(name.endswith(".parquet") for name in found)
    )
