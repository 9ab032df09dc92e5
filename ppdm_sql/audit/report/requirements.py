"""`--require "k>=5, prosecutor<=0.2, l(diagnosis)>=2"`: what an audit must show, for CI."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks import ATTACKS
from ppdm_sql.audit.attacks.protocol import Needs
from ppdm_sql.audit.report.outcome import Outcome, RequiredColumn, Requirement
from ppdm_sql.errors import BindError, Span, StatementError, suggest
from ppdm_sql.names import Name, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from ppdm_sql.audit.report.model import Report

_COLUMN = r"\s*(?:\"(?:[^\"]|\"\")+\"|[^\s()\",][^()\",]*)\s*"
_COLUMNS = re.compile(_COLUMN)
_ONE = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*"
    rf"(?:\((?P<about>{_COLUMN}(?:,{_COLUMN})*)\))?\s*"
    r"(?P<sign><=|>=|<|>|=)\s*(?P<bound>[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)\s*$"
)
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
FIGURES = [
    "absence",
    "alpha",
    "association",
    "at_risk",
    "average_class",
    "changed",
    "classes",
    "correlation",
    "correlations",
    "covariance",
    "discernibility",
    "divergence",
    "divergence_classes",
    "eigenvalues",
    "entropy_l",
    "high_linked",
    "high_only",
    "homogeneous",
    "il1s",
    "journalist",
    "js",
    "k",
    "k_high",
    "k_linked",
    "k_rows",
    "keys_shown",
    "ks",
    "l",
    "linked_unique_share",
    "lost",
    "marketer",
    "mean_drift",
    "merged",
    "misclassification",
    "precision",
    "prosecutor",
    "proximity",
    "proximity_classes",
    "proximity_l",
    "quantile_drift",
    "recursive_c_2",
    "rules",
    "sec",
    "suppressed",
    "t",
    "tree_original",
    "tree_released",
    "unique_share",
    "untouched",
    "untouched_unique_share",
    "wasserstein",
]
"""The figures there are, beside the names of attacks."""


def parse_requirements(required: str | Sequence[str]) -> list[Requirement]:
    """Read requirements between commas, or in a list; raise with the place of a mistake."""
    texts = [required] if isinstance(required, str) else required
    return [requirement for text in texts for requirement in _parse(text)]


def _parse(text: str) -> list[Requirement]:
    known = [*FIGURES, *(attack.name for attack in ATTACKS)]
    found = []
    for begin, end in _parts(text):
        part = text[begin:end]
        place = begin + len(part) - len(part.lstrip())
        span = Span(text, place, max(begin + len(part.rstrip()), place + 1))
        one = _ONE.match(text, begin, end)
        if one is None:
            raise StatementError(
                "this is not a requirement",
                span,
                "write k>=5, or l(diagnosis)>=2, with commas between",
                code="bad_requirement",
            )
        name = fold(one["name"])
        if name not in known:
            raise StatementError(
                f"there is no figure or attack '{one['name']}'",
                span,
                suggest(name, known),
                code="unknown_figure",
            )
        columns = () if one["about"] is None else _columns(text, *one.span("about"))
        found.append(Requirement(name, columns, one["sign"], float(one["bound"]), span))
    return found


def _columns(text: str, begin: int, end: int) -> tuple[RequiredColumn, ...]:
    """Return the columns in parentheses: between commas, in double quotes or not."""
    found = []
    for match in _COLUMNS.finditer(text, begin, end):
        word = match[0].strip()
        start = match.end() - len(match[0].lstrip())
        name = word[1:-1].replace('""', '"') if word.startswith('"') else word
        found.append(RequiredColumn(name, Span(text, start, start + len(word))))
    return tuple(found)


def _parts(text: str) -> list[tuple[int, int]]:
    """Return the places between commas that are in no quotes and no parentheses."""
    hidden = re.sub(r'"[^"]*"', lambda found: "_" * len(found[0]), text)
    hidden = re.sub(r"\([^()]*\)", lambda found: "_" * len(found[0]), hidden)
    ends = [*(place for place, letter in enumerate(hidden) if letter == ","), len(text)]
    begins = [0, *(end + 1 for end in ends)]
    return list(zip(begins, ends, strict=False))


def check_known(
    requirements: Sequence[Requirement], columns: Sequence[str], has_background: bool
) -> None:
    """Raise where something is required that this release cannot have, before it is measured."""
    known = {fold(column) for column in columns}
    tables = [attack.name for attack in ATTACKS if attack.needs is Needs.TABLE]
    for requirement in requirements:
        if requirement.name in tables and not has_background:
            raise StatementError(
                f"'{requirement.name}' needs a background table",
                requirement.span,
                "name one with --against TABLE, in Python with against='table'",
                code="bad_requirement",
            )
        if requirement.about is None or _is_label(fold(requirement.about), known):
            continue
        # A name may hold a comma: then all of them together are a name, or none is.
        unknown = [one for one in requirement.columns if fold(one.name) not in known]
        raise BindError(
            f"the release has no column '{unknown[0].name}'",
            unknown[0].span,
            suggest(unknown[0].name, (str(Name(column)) for column in columns), "columns"),
            code="unknown_column",
        )


def _is_label(label: str, known: Collection[str]) -> bool:
    """Tell whether a text is names of columns with commas between."""
    return label in known or any(
        label.startswith(f"{name}, ") and _is_label(label[len(name) + 2 :], known) for name in known
    )


def check(exact: Report, shown: Report, requirements: Sequence[Requirement]) -> tuple[Outcome, ...]:
    """Return what each requirement comes to. What was not measured is not met.

    The exact figures decide; the others are shown.
    """
    return tuple(_outcome(exact, shown, requirement) for requirement in requirements)


def _outcome(exact: Report, shown: Report, requirement: Requirement) -> Outcome:
    # Both reports list the same in the same order; two may bear one name, and both must hold.
    pairs = [
        (value, shown, about)
        for (about, value), (_, shown) in zip(
            exact.measured(requirement.name), shown.measured(requirement.name), strict=True
        )
        if requirement.about is None or fold(about) == fold(requirement.about)
    ]
    if not pairs:
        return Outcome(requirement.text, False, "was not measured")
    missed = [pair for pair in pairs if not _holds(requirement, pair[0])]
    named = missed or pairs
    sentence = ", ".join(_figure_text(value, shown, about) for value, shown, about in named)
    seen = [shown for value, shown, _ in named if shown is not None or value is None]
    if seen and all(_holds(requirement, shown) for shown in seen) == bool(missed):
        sentence += ", rounded; the exact figure decides"
    return Outcome(requirement.text, not missed, sentence)


def _holds(requirement: Requirement, value: float | None) -> bool:
    return value is not None and _SIGNS[requirement.sign](value, requirement.bound)


def _figure_text(value: float | None, shown: float | None, about: str) -> str:
    number = "could not be measured"
    if shown is not None:
        number = f"{shown:.6g}"
    elif value is not None:
        number = "judged by the exact figure, which --internal shows"
    return f"{number} ({about})" if about else number
