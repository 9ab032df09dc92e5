"""Printing: tables for people on a terminal, CSV and JSON for programs."""

from __future__ import annotations

import csv
import json
import math
import os
import sys
import traceback
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ppdm_sql.terminal_text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa
    from rich.console import JustifyMethod

    from ppdm_sql.engine.result import Result
    from ppdm_sql.engine.table_rows import TableRows
    from ppdm_sql.errors import PpdmError
    from ppdm_sql.lifecycle.describe import ColumnInfo
    from ppdm_sql.store.figures import VersionFigure


@dataclass
class _Style:
    """How one run of the command line prints."""

    form: str = "table"
    is_quiet: bool = False


_style = _Style()
FORMATS = ("table", "lines", "csv", "json")
_PIPE_WIDTH = 100_000
"""A pipe has no width of its own; a table must not be cut to that of a terminal."""

_ALL = "--rows shows more"
_BORDERS = 3
"""What a table needs for each column beside its text; without lines, a gap."""
_GAP = 2
_WRITTEN_OUT = 1e10
"""From here on, numbers are shown with an exponent."""


def console() -> Console:
    """Return a console for standard output as it is now."""
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    return Console(width=width, highlight=False, soft_wrap=False)


def print_as(form: str) -> None:
    """Choose how all that follows is printed."""
    _style.form = form


def be_quiet(quiet: bool) -> None:
    """Choose whether what was done is said."""
    _style.is_quiet = quiet


def is_for_people() -> bool:
    """Whether a person reads, not a program."""
    return _style.form in ("table", "lines")


def is_json() -> bool:
    """Whether answers are printed as JSON."""
    return _style.form == "json"


def print_result(result: Result, most: int | None = None) -> None:
    """Print what a statement answered: its sentence, and its rows."""
    if result.message:
        print_message(result.message)
    if is_for_people() and result.columns == ["sql"]:
        for row in result.fetchall():
            print_text(row[0])
    elif result.columns:
        print_rows(result, most, result.hint)
    if result.more is not None and is_for_people():
        print_result(result.more, most)


def print_rows(result: Result | TableRows, most: int | None = None, hint: str = "") -> None:
    """Print rows: all for programs, the first for people with a hint where the others are."""
    columns = result.columns
    if not is_for_people():
        _print_data(columns, iter(result.fetchone, None))
        return
    rows = list(islice(iter(result.fetchone, None), None if most is None else most + 1))
    cut = most is not None and len(rows) > most
    print_table(columns, rows[:most])
    if cut:
        click.echo(f"(the first {most} rows; {hint or _ALL})")


def print_translated(rows: pa.Table) -> None:
    """Print a table that is at hand; one of lines of text, as text."""
    if rows.column_names == ["text"] and is_for_people():
        for line in rows.column("text").to_pylist():
            print_text(line)
        return
    columns = zip(*(column.to_pylist() for column in rows.columns), strict=True)
    if is_for_people():
        print_table(rows.column_names, columns)
    else:
        _print_data(rows.column_names, columns)


def print_answer(answer: dict[str, object]) -> None:
    """Print one answer: its values for people, a row for programs."""
    if is_for_people():
        for value in answer.values():
            print_text(str(value))
    else:
        _print_data(list(answer), [list(answer.values())])


def print_message(text: str) -> None:
    """Say what was done; to programs beside the rows, not among them."""
    if is_for_people() and not _style.is_quiet:
        print_text(text)
    elif is_json() and not _style.is_quiet:
        print_note("message", text)


def print_text(text: str) -> None:
    """Print a text as it is, but for what would steer a terminal."""
    click.echo(harmless(text))


def print_columns(infos: Sequence[ColumnInfo]) -> None:
    """Print the columns of a release, what is said of each in lines below it."""
    console_ = console()
    rows = [(info.column, info.role, info.treatment, info.type) for info in infos]
    print_table(("column", "role", "treatment", "type"), rows)
    for info in infos:
        said = {"undone by": info.undone_by, "what the owner gets back": info.inverse}
        listed = [f"{name}: {text}" for name, text in said.items() if text]
        listed += [info.note] if info.note else []
        if listed:
            console_.print(Text(harmless(f"{info.column} - {'; '.join(listed)}")))


def print_infos(infos: Sequence[ColumnInfo | VersionFigure]) -> None:
    """Print what is known of a release: its columns, or its figures."""
    if not infos:
        return
    rows = [tuple(asdict(info).values()) for info in infos]
    if is_for_people():
        print_table(list(asdict(infos[0])), rows)
    else:
        _print_data(list(asdict(infos[0])), iter(rows))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "", digits: int = 10
) -> None:
    """Print rows as a table; numbers with so many digits, but for whole parts."""
    rows = list(rows)
    shown = [[_plain(_cell(value, digits)) for value in row] for row in rows]
    header = [_plain(name) for name in columns]
    words = [
        max((cell_len(word) for cell in column for word in cell.plain.split()), default=0)
        for column in zip(header, *shown, strict=True)
    ]
    room = console().width - sum(words)
    if _style.form == "lines" or room < _GAP * len(columns):
        _print_lines(columns, shown, title)
        return
    table = Table(title=title or None, title_justify="left", header_style="bold")
    beside = _BORDERS * len(columns) + 1
    if room < beside:  # it fits without lines
        table.box, table.pad_edge, table.padding = None, False, (0, _GAP, 0, 0)
        beside = _GAP * len(columns)
    left = room - beside
    for index, (name, width) in enumerate(zip(header, words, strict=True)):
        is_number = any(isinstance(row[index], int | float) for row in rows)
        justify: JustifyMethod = "right" if is_number else "left"
        whole = max(cell.cell_len for cell in (name, *(row[index] for row in shown)))
        given = min(whole, width + left)  # no word is cut: what is left goes to the first
        left -= given - width
        table.add_column(name, justify=justify, width=given)
    for cells in shown:
        table.add_row(*cells)
    console().print(table)


def _print_lines(columns: Sequence[str], rows: Sequence[Sequence[Text]], title: str) -> None:
    """Print each row as lines of name and value."""
    names = [_plain(name) for name in columns]
    width = max((name.cell_len for name in names), default=0)
    if title:
        console().print(title)
    for number, row in enumerate(rows, start=1):
        console().print(f"── {number}", style="bold")
        grid = Table.grid(padding=(0, 2))
        grid.add_column(min_width=width, no_wrap=True)
        grid.add_column(overflow="fold")
        for name, cell in zip(names, row, strict=True):
            grid.add_row(name, cell)
        console().print(grid)
    if not rows:
        print_text(f"no rows of {', '.join(name.plain for name in names)}")


def print_failure(error: PpdmError) -> None:
    """Print an error on standard error: as a sentence, or with its code for programs."""
    if not is_json():
        print_note("error", str(error))
        return
    said = {"code": error.code, "message": error.what, "hint": error.hint}
    place = {"line": error.line, "column": error.column}
    click.echo(json.dumps({"error": said | place}), err=True)


def print_note(kind: str, text: str) -> None:
    """Print a line on standard error."""
    if is_json():
        click.echo(json.dumps({kind: text}), err=True)
    else:
        # A bar may stand in this line; it is drawn again below.
        begin = "\r\x1b[K" if kind == "warning" and sys.stderr.isatty() else ""
        click.echo(begin + harmless(f"{kind}: {text}"), err=True)


def print_debug() -> None:
    """Print the whole traceback if its reader asked for it."""
    if os.environ.get("PPDM_DEBUG"):
        traceback.print_exc()


def _print_data(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    if _style.form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        # A pipe gets the values as they are; a terminal would obey them.
        shown = _harmless if sys.stdout.isatty() else list[object]
        writer.writerow(shown(columns))
        writer.writerows(map(shown, rows))
    else:
        for row in rows:
            named = dict(zip(_unique(columns), map(_jsonable, row), strict=True))
            is_seen = sys.stdout.isatty()  # a terminal would obey some letters
            click.echo(json.dumps(named, ensure_ascii=is_seen, default=str))


def _cell(value: object, digits: int) -> str:
    if value is None:
        return "NULL"
    if not isinstance(value, float):
        return str(value)
    # 12,345.6 with four digits is 12346, not 1.235e+04.
    is_large = 10**digits - 0.5 <= abs(value) < _WRITTEN_OUT
    return f"{value:.0f}" if is_large else f"{value:.{digits}g}"


def _plain(text: str) -> Text:
    """Return a text that is shown as it is: no markup, nothing that steers a terminal."""
    return Text(harmless(text))


def _harmless(row: Sequence[object]) -> list[object]:
    return [_plain(value).plain if isinstance(value, str) else value for value in row]


def _jsonable(value: object) -> object:
    """Return a value that JSON knows; NaN and infinity become their names."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case list() | tuple():
            return [_jsonable(item) for item in value]
        case dict():
            return {str(key): _jsonable(item) for key, item in value.items()}
        case _:
            return value


def _unique(columns: Sequence[str]) -> list[str]:
    """Return names of which none is lost in a JSON object: a second `a` becomes `a_1`."""
    names: list[str] = []
    for name in columns:
        number, unique = 0, name
        while unique in names:
            number += 1
            unique = f"{name}_{number}"
        names.append(unique)
    return names
