"""Errors of DuckDB as ours, without anything that could be a value of the data.

Errors of the parser and the binder quote what they read. That is the statement, but where it runs
a text that is data (`query(getvariable('v'))`) or makes columns of data (`PIVOT`), it is a value.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb

from ppdm_sql.engine.stopping import stopped
from ppdm_sql.errors import EngineError, EngineKind, raise_alone
from ppdm_sql.names import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

# Errors about names and grammar: their texts quote the statement, not the data. The texts of all
# other errors (conversion, constraint, out of range, …) may hold values and are withheld.
_OF_NAMES_AND_GRAMMAR = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.TransactionException,
    duckdb.PermissionException,
    duckdb.NotImplementedException,
    duckdb.InterruptException,
)
_WITHHELD = "DuckDB's own text is withheld because it may contain values of the data"
_HOW_TO_SEE = "; --show-engine-errors shows it, in Python connect(show_engine_errors=True)"
_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)(?: by user (?P<user>\S+))?")
_CLOSED_FILE = re.compile(
    r"(?:No files found that match the pattern|Cannot open (?:file|database)) \"(?P<path>.+?)\""
    r"(?P<why>: Permission denied|: Is a directory)?"
)
_ENUM_VALUES = re.compile(r"ENUM\((?:[^()']|'(?:[^']|'')*')*\)")
_QUOTED = re.compile(r"\"((?:[^\"]|\"\")+)\"|'((?:[^']|'')+)'|with name (.+?) does not exist")
_ENCODING = re.compile(r"is not [\w-]+ encoded|does not support the encoding")
_CTRL_C = "Query interrupted"
"""What DuckDB makes of Ctrl-C."""
_CONFLICT = re.compile(r"\bconflict\b|has been altered by a different transaction", re.IGNORECASE)
_OFFERED = re.compile(r"\s*(?:Candidate (?:bindings|functions|macros)|Did you mean)\b.*", re.DOTALL)
_SIGNATURE = re.compile(r"[^\w\s]{0,3}\w*\([A-Z0-9_, \[\]()]*\)")
# A file without a header has its first row as names.
_MADE_OF_DATA = re.compile(
    r"\b(?:pivot|query|query_table|getvariable|execute|read_\w+|sniff_csv)\b|\bfrom\s*\(?\s*'",
    re.IGNORECASE,
)


class OpenError(Exception):
    """A database file that cannot be opened: who has it, or what kind of error it is."""

    HERE, ELSEWHERE = "open in this process", "open in another process"

    def __init__(self, why: str, holder: str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.holder = holder


def engine_error(error: duckdb.Error, text: str = "", is_shown: bool | None = None) -> EngineError:
    """Return an engine's error as ours; a text that may hold data is withheld.

    `is_shown` is None for statements of ours; else, whether the owner wants to see those of hers.
    """
    name, kind = type(error).__name__.removesuffix("Exception"), _kind(error)
    if kind is EngineKind.INTERRUPTED:
        return stopped()
    if kind is EngineKind.CONFLICT:
        return EngineError(
            "another cursor changed the same thing, or is about to",
            hint="end both transactions (COMMIT or ROLLBACK) and write the statement again",
            code="changed_elsewhere",
            kind=kind,
        )
    # A COMMIT that fails quotes the row that was in the way.
    if isinstance(error, _OF_NAMES_AND_GRAMMAR) and kind is not EngineKind.DISK:
        said = without_values(str(error), text)
        if said is not None:
            first = said.split("\n\nLINE ")[0].strip()
            return EngineError(first, kind=kind, engine_text=said)
    if isinstance(error, duckdb.ConnectionException):
        return EngineError("this connection is closed", hint="connect again", code="closed")
    if isinstance(error, duckdb.IOException) and (file := _CLOSED_FILE.search(str(error))):
        return _closed_file(file["path"], file["why"], text, str(error))
    if isinstance(error, duckdb.InvalidInputException) and _ENCODING.search(str(error)):
        return EngineError(
            "a file of this statement is not written in UTF-8, or not in the encoding that is named",
            hint="write read_csv('…', encoding = 'latin-1'), or save it as \"CSV UTF-8\" in your program",
            kind=kind,
        )
    if is_shown:
        return EngineError(str(error).split("\n\nLINE ")[0], kind=kind, engine_text=str(error))
    return EngineError(
        f"DuckDB could not run this statement: {name} error",
        hint=_WITHHELD + _HOW_TO_SEE * (is_shown is not None),
        kind=kind,
    )


def _closed_file(path: str, why: str | None, text: str, said: str) -> EngineError:
    # A path may be made of data, too; one that stands in the statement is not.
    written = next((one for one in (path, os.path.relpath(path)) if one in text), None)
    named = "a file of this statement" if written is None else f"'{written}'"
    return EngineError(
        f"cannot open {named}{why or ': no such file or folder'}",
        kind=EngineKind.DISK,
        engine_text="" if written is None else said,
        code="bad_path" if why else "no_such_file",
    )


def _kind(error: duckdb.Error) -> EngineKind:
    """Tell errors apart; the one place that reads DuckDB's texts for it."""
    match error:
        case duckdb.InterruptException():
            return EngineKind.INTERRUPTED
        case duckdb.InvalidInputException() if "KeyboardInterrupt" in str(error):
            return EngineKind.INTERRUPTED  # Ctrl-C while a function of ours ran
        case duckdb.TransactionException() if _CONFLICT.search(str(error)):
            return EngineKind.CONFLICT
        case duckdb.OutOfMemoryException():
            return EngineKind.MEMORY
        case duckdb.IOException():
            return EngineKind.DISK
        case duckdb.TransactionException() if "Failed to commit" in str(error):
            return EngineKind.DISK
        case duckdb.ParserException():
            return EngineKind.SYNTAX
        case duckdb.InvalidInputException():
            return EngineKind.PARAMETER
        case duckdb.BinderException() if "infinite recursion" in str(error):
            return EngineKind.RECURSION
        case _:
            return EngineKind.OTHER


@contextmanager
def withheld(text: str = "", is_shown: bool | None = None) -> Iterator[None]:
    """Turn DuckDB's errors into ours, without any text that may hold data.

    `text` is the statement, where there is one: what DuckDB quotes must be of it. `is_shown`
    as for `engine_error`.
    """
    try:
        yield
    except duckdb.Error as error:
        raise_alone(engine_error(error, text, is_shown))
    except RuntimeError as error:
        if str(error) == _CTRL_C:
            raise KeyboardInterrupt from None
        raise


def open_error(error: duckdb.Error) -> OpenError:
    """Return why a database file cannot be opened, and who has it."""
    text = str(error)
    holder = _HOLDER.search(text)
    if holder is not None:
        who = f"{holder['program'].rsplit('/', 1)[-1]}, process {holder['pid']}"
        if holder["user"]:
            who += f" of user {holder['user']}"
        return OpenError(OpenError.ELSEWHERE, who)
    if isinstance(error, duckdb.ResourceInUseException) or "already attached" in text:
        return OpenError(OpenError.HERE)
    if "lock on file" in text:
        return OpenError(OpenError.ELSEWHERE)
    return OpenError(type(error).__name__)


def without_values(said: str, statement: str) -> str | None:
    """Return what DuckDB says without anything that could be a value; None if nothing is left.

    What is quoted must stand in the statement, or be the types of a call. Names that DuckDB offers
    instead are those of the catalog, unless the statement makes names of data.
    """
    said = _ENUM_VALUES.sub("ENUM", said)  # the name of its type lists its values
    offered = _OFFERED.search(said)
    if not statement:
        return said
    start = said[: offered.start()] if offered else said
    start = start.split("\n\nLINE ")[0]
    written = fold(statement)
    for found in _QUOTED.finditer(start):
        quoted = next(group for group in found.groups() if group is not None)
        name = fold(quoted.replace('""', '"').replace("''", "'"))
        if name not in written and not _SIGNATURE.fullmatch(quoted):
            return None
    if offered and _MADE_OF_DATA.search(statement):
        return start
    return said
