"""Options that several commands have, and the owner's database behind them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ppdm_sql import PpdmError, StoreError, connect
from ppdm_sql.cli import output
from ppdm_sql.cli.interrupt import interruptible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ppdm_sql.owner import Owner

F = TypeVar("F", bound="Callable[..., Any]")
_AGAIN_S = 0.1
_ATTACH = "ppdm.attach"

FORMAT = click.option(
    "--format",
    type=click.Choice(output.FORMATS),
    default="table",
    show_default=True,
    expose_value=False,
    callback=lambda _context, _option, value: output.print_as(value),
    help="How answers are printed; with json, errors too, with their codes.",
)
QUIET = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=lambda _context, _option, value: output.be_quiet(value),
    help="Print rows, warnings and errors only.",
)
ROWS = click.option(
    "--rows",
    default=40,
    show_default=True,
    type=click.IntRange(min=0),
    help="Rows shown of a long table.",
)


def database(command: F) -> F:
    """Give a command the owner's database: its path, and how long to wait for it."""
    path = click.option(
        "--db",
        "database",
        required=True,
        envvar="PPDM_DB",
        metavar="FILE",
        help="The owner's database, in a folder only the owner may enter (or set PPDM_DB).",
    )
    wait = click.option(
        "--wait",
        default=0.0,
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="How long to wait while another process has it open.",
    )
    attach = click.option(
        "--attach",
        multiple=True,
        expose_value=False,
        metavar="NAME=FILE",
        callback=lambda context, _option, value: context.meta.__setitem__(_ATTACH, value),
        help="Another database to read from; the store remembers it.",
    )
    return path(wait(attach(command)))


@contextmanager
def opened(
    database: str, wait: float = 0.0, must_exist: bool = True, show_engine_errors: bool = False
) -> Iterator[Owner]:
    """Open the owner's database for one command; Ctrl-C stops what it runs."""
    path = Path(database)
    if must_exist and database != ":memory:" and not os.path.lexists(path):
        raise PpdmError(
            f"there is no database '{database}'",
            hint="`ppdm run` makes a new one",
            code="no_such_file",
        )
    if database != ":memory:" and path.is_dir():
        raise PpdmError(
            f"'{database}' is a folder",
            hint=f"name a file in it: {path / 'my.duckdb'}",
            code="wrong_kind_of_file",
        )
    with _connected(database, wait, show_engine_errors) as owner, interruptible(owner):
        for given in click.get_current_context().meta.get(_ATTACH, ()):
            name, equals, file = given.partition("=")
            if not (name and equals and file):
                raise PpdmError(
                    "--attach takes a name and a file",
                    hint="write --attach lab=lab.duckdb",
                    code="usage",
                )
            owner.attach(name, file)
        yield owner


def _connected(database: str, wait: float, show_engine_errors: bool) -> Owner:
    until = monotonic() + wait
    while True:
        try:
            return connect(database, show_engine_errors=show_engine_errors)
        except StoreError as error:
            if error.code != "open_elsewhere" or monotonic() > until:
                raise
            sleep(_AGAIN_S)
