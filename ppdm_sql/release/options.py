"""The options of CREATE RELEASE: `WITH (execution = 'udf', suppressed = 'star')`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, suggest
from ppdm_sql.release.acceptance import OPTION as ACCEPT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ppdm_sql.language.syntax import CreateRelease, Option

_OPTIONS: dict[str, tuple[str, ...]] = {
    "execution": ("native", "udf"),
    "agreement": (),
    "site": (),
    ACCEPT: (),
    "loss": ("precision", "ilm"),
    "method": ("optimal", "mondrian"),
    "suppressed": ("drop", "star"),
    "ranges": ("text", "columns"),
}
"""The words that an option takes, its default first; none: any name."""
_OF_GENERALIZE = ("loss", "method", "suppressed", "ranges")


def options_of(statement: CreateRelease) -> dict[str, str]:
    """Return every option, given or by default; fail on any that does not exist."""
    chosen = {name: choices[0] for name, choices in _OPTIONS.items() if choices}
    for option in statement.options:
        if option.name not in _OPTIONS:
            raise unknown_option(option, _OPTIONS)
        if option.name in _OF_GENERALIZE and statement.generalize is None:
            raise BindError(
                f"option '{option.name}' belongs to GENERALIZE, which this release does not have",
                option.span,
                "remove it, or write GENERALIZE … UNTIL …",
                code="bad_option",
            )
        if option.name == "site" and all(one.name != "agreement" for one in statement.options):
            raise BindError(
                "option 'site' belongs to an agreement, which this release does not have",
                option.span,
                "remove it, or write agreement = '…'",
                code="bad_option",
            )
        choices = _OPTIONS[option.name]
        if choices and option.value not in choices:
            listed = ", ".join(f"'{choice}'" for choice in choices)
            raise BindError(
                f"option '{option.name}' must be one of {listed}", option.span, code="bad_option"
            )
        chosen[option.name] = str(option.value)
    return _with_loss_of_method(statement, chosen)


def unknown_option(option: Option, known: Iterable[str]) -> BindError:
    """Return the error of a word that is no option."""
    return BindError(
        f"unknown option '{option.name}'",
        option.span,
        suggest(option.name, known),
        code="unknown_option",
    )


def _with_loss_of_method(statement: CreateRelease, chosen: dict[str, str]) -> dict[str, str]:
    """Take the loss that local recoding is measured by: it has no levels to count."""
    if chosen["method"] == "optimal":
        return chosen
    for option in statement.options:
        if option.name == "loss" and option.value != "ilm":
            raise BindError(
                "local recoding has no levels for 'precision' to count",
                option.span,
                "write loss = 'ilm', or leave it out",
                code="bad_target",
            )
    return {**chosen, "loss": "ilm"}
