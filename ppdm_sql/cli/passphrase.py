"""The passphrase of an agreement file: of the environment, or asked for on a terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


def ask_passphrase(pause: Callable[[], AbstractContextManager[None]], is_new: bool) -> str:
    """Take the passphrase of an agreement file from the environment, or ask for it."""
    from ppdm_sql.sites.agreements import PASSPHRASE, passphrase_of_environment

    if os.environ.get(PASSPHRASE) or not sys.stdin.isatty():
        return passphrase_of_environment(is_new)
    with pause():
        word = "New passphrase" if is_new else "Passphrase"
        asked: str = click.prompt(
            f"{word} of the agreement file",
            hide_input=True,
            confirmation_prompt=is_new,
            err=True,
        )
    return asked
