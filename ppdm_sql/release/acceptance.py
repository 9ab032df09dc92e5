"""What an owner accepts: `WITH (accept = ['identifying(email)', 'linked_rows'])`.

The words are the codes of the errors that it overrules, and nothing else is. What was accepted is
said wherever the release is described, published or audited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, Refused, suggest
from ppdm_sql.names import Name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import Option

OPTION = "accept"
OF_COLUMNS = ("identifying", "twin")
OF_RELEASES = ("linked_rows", "noise_averages")
_WRITTEN = re.compile(r"(\w+)(?:\((.+)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One error that the owner overrules: its code and, for some, the column it is about."""

    code: str
    column: Name | None = None

    def __str__(self) -> str:
        return self.code if self.column is None else f"{self.code}({self.column.text})"


@dataclass(frozen=True, slots=True)
class Objection:
    """What speaks against a release that was asked for."""

    accepting: Acceptance
    what: str
    hint: str
    span: Span | None = None

    def refusal(self, accepted: Iterable[Acceptance] = ()) -> Refused:
        """Return the error, which says what to write to accept it."""
        listed = ", ".join(
            "'" + str(one).replace("'", "''") + "'" for one in (*accepted, self.accepting)
        )
        # The code of the error is what is accepted.
        return Refused(
            self.what,
            self.span,
            f"{self.hint}; to release it anyway, and have release_info and reports say so, write WITH"
            f" ({OPTION} = [{listed}])",
            code=self.accepting.code,
        )


def accepted_in(options: Iterable[Option], columns: Iterable[Name]) -> tuple[Acceptance, ...]:
    """Return what a WITH clause accepts; raise for what there is no error of."""
    known = list(columns)
    for option in options:
        if option.name == OPTION:
            values = option.value if isinstance(option.value, tuple) else (option.value,)
            return tuple(_acceptance(value, option, known) for value in values)
    return ()


def _acceptance(value: object, option: Option, columns: list[Name]) -> Acceptance:
    found = _WRITTEN.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise BindError(
            f"'{OPTION}' must be a list of error codes",
            option.span,
            f"write {OPTION} = ['identifying(email)', 'linked_rows']",
            code="bad_option",
        )
    code, column = found[1].lower(), found[2]
    if code not in OF_COLUMNS + OF_RELEASES:
        raise BindError(
            f"'{code}' cannot be accepted",
            option.span,
            suggest(code, OF_COLUMNS + OF_RELEASES),
            code="bad_option",
        )
    if (column is None) != (code in OF_RELEASES):
        said = f"{code}(column)" if code in OF_COLUMNS else code
        raise BindError(f"write '{said}'", option.span, code="bad_option")
    if column is None:
        return Acceptance(code)
    if Name(column) not in columns:
        raise BindError(
            f"there is no column '{column}' in this release",
            option.span,
            suggest(column, (str(name) for name in columns), "columns"),
            code="unknown_column",
        )
    return Acceptance(code, next(name for name in columns if name == Name(column)))


def raise_unaccepted(objections: Iterable[Objection], accepted: Iterable[Acceptance]) -> None:
    """Raise the first objection that was not accepted."""
    known = tuple(accepted)
    for one in objections:
        if one.accepting not in known:
            raise one.refusal(known)
