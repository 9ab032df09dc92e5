"""The command line: turns errors into messages and exit codes.

0 all went well · 2 something the user can fix · 3 an audit misses a requirement · 1 a bug ·
130 stopped by Ctrl-C · 141 nobody reads what is printed.
"""

from __future__ import annotations

import os
import sys
import warnings
from errno import ENOSPC, EPIPE
from io import TextIOWrapper
from typing import NoReturn

import click

from ppdm_sql import EngineError, PpdmError, PrivacyWarning
from ppdm_sql.cli import output
from ppdm_sql.cli.commands import cli
from ppdm_sql.errors import EngineKind

__all__ = ["cli", "main"]

_CLOSED_PIPE = 141
"""As a shell has it: 128 and the number of SIGPIPE."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that knows few letters
            stream.reconfigure(errors="replace")
    output.print_as("table")
    output.be_quiet(False)
    warnings.showwarning = _print_warning
    warnings.simplefilter("always", PrivacyWarning)
    try:
        cli.main(args=arguments, prog_name="ppdm", standalone_mode=False)
        sys.stdout.flush()
    except SystemExit as end:  # click ends with 1 where the other end of a pipe is closed
        sys.exit(_CLOSED_PIPE if end.code == 1 else end.code)
    except (click.exceptions.Abort, KeyboardInterrupt):
        _stop()
    except RuntimeError as error:
        # What DuckDB makes of Ctrl-C while a statement runs.
        if "interrupt" not in str(error).lower():
            _report_bug(error)
        _stop()
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except PpdmError as error:
        if isinstance(error, EngineError) and error.kind is EngineKind.INTERRUPTED:
            _stop()
        output.print_failure(error)
        sys.exit(2)
    except OSError as error:
        if error.errno not in (ENOSPC, EPIPE):
            _report_bug(error)
        output.print_note("error", f"what is printed cannot be written: {error.strerror}")
        # Python would try once more, and say so, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except Exception as error:  # noqa: BLE001 - the last resort: a bug, told without its data
        _report_bug(error)
    sys.exit(0)


def _stop() -> NoReturn:
    output.print_note("error", "stopped; the statement that ran changed nothing")
    sys.exit(130)


def _report_bug(error: Exception) -> NoReturn:
    output.print_note(
        "error",
        f"{type(error).__name__}: this is a bug in ppdm-sql; its text is withheld because it "
        "may contain data. PPDM_DEBUG=1 shows it",
    )
    output.print_debug()
    sys.exit(1)


def _print_warning(
    message: Warning | str, category: type[Warning], *_args: object, **_kwargs: object
) -> None:
    word = "warning" if issubclass(category, PrivacyWarning) else category.__name__
    output.print_note(word, str(message))
