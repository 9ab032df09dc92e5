"""What stands behind WITH of PUBLISH RELEASE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, suggest
from ppdm_sql.release.acceptance import OPTION as ACCEPT

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import PublishRelease

_OPTIONS: dict[str, tuple[type, str]] = {
    "unlinkable": (bool, "true or false"),
    "strict": (bool, "true or false"),
    "recipient": (str, "a text"),
    ACCEPT: (tuple, "a list of codes"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """What WITH says of a publication."""

    unlinkable: bool = False
    is_strict: bool = False
    recipient: str | None = None


def options_of(statement: PublishRelease) -> Options:
    """Return every option, given or by default; fail on any that does not exist."""
    given: dict[str, object] = {}
    for option in statement.options:
        if option.name not in _OPTIONS:
            raise BindError(
                f"unknown option '{option.name}'",
                option.span,
                suggest(option.name, _OPTIONS),
                code="unknown_option",
            )
        kind, said = _OPTIONS[option.name]
        if not isinstance(option.value, kind) or option.value == "":
            raise BindError(
                f"option '{option.name}' must be {said}", option.span, code="bad_option"
            )
        given[option.name] = option.value
    recipient = given.get("recipient")
    return Options(
        bool(given.get("unlinkable")),
        bool(given.get("strict")),
        str(recipient) if recipient is not None else None,
    )
