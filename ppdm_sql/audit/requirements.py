"""`--require "k>=5, prosecutor<=0.2, l(diagnosis)>=2"`: what an audit must show, for CI."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks import ATTACKS
from ppdm_sql.errors import Span, StatementError, suggest
from ppdm_sql.names import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.audit.report import Report

_ONE = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*"
    r"(?:\(\s*(?:\"(?P<quoted>(?:[^\"]|\"\")+)\"|(?P<about>[^()\"]+?))\s*\))?\s*"
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
    "betrayed",
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


@dataclass(frozen=True, slots=True)
class Requirement:
    """One comparison; it must hold for everything that the figure was measured of."""

    name: str
    about: str | None
    sign: str
    bound: float
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a requirement is met, and by what."""

    requirement: str
    is_met: bool
    sentence: str


def parse_requirements(text: str) -> list[Requirement]:
    """Read requirements between commas; raise with the place of what cannot be read."""
    known = [*FIGURES, *(attack.name for attack in ATTACKS)]
    found = []
    start = 0
    for part in _parts(text):
        place = start + len(part) - len(part.lstrip())
        span = Span(text, place, max(start + len(part.rstrip()), place + 1))
        start += len(part) + 1
        one = _ONE.match(part)
        if one is None:
            raise StatementError(
                "this is no requirement",
                span,
                "write k>=5, or l(diagnosis)>=2, with commas between",
            )
        name = fold(one["name"])
        if name not in known:
            raise StatementError(
                f"there is no figure or attack '{one['name']}'", span, suggest(name, known)
            )
        about = one["about"]
        if one["quoted"] is not None:
            about = one["quoted"].replace('""', '"')
        found.append(Requirement(name, about, one["sign"], float(one["bound"]), part.strip()))
    return found


def _parts(text: str) -> list[str]:
    """Return what stands between commas that are in no quotes and no parentheses."""
    hidden = re.sub(r'"[^"]*"', lambda found: "_" * len(found[0]), text)
    hidden = re.sub(r"\([^()]*\)", lambda found: "_" * len(found[0]), hidden)
    ends = [*(place for place, letter in enumerate(hidden) if letter == ","), len(text)]
    begins = [0, *(end + 1 for end in ends)]
    return [text[begin:end] for begin, end in zip(begins, ends, strict=False)]


def check(exact: Report, shown: Report, requirements: Sequence[Requirement]) -> tuple[Outcome, ...]:
    """Return what each requirement comes to. What was not measured is not met.

    The exact figures decide; the others are told.
    """
    return tuple(_outcome(exact, shown, requirement) for requirement in requirements)


def _outcome(exact: Report, shown: Report, requirement: Requirement) -> Outcome:
    # Both reports list the same in the same order; two may bear one name, and both must hold.
    pairs = [
        (value, told, about)
        for (about, value), (_, told) in zip(
            exact.measured(requirement.name), shown.measured(requirement.name), strict=True
        )
        if requirement.about is None or fold(about) == fold(requirement.about)
    ]
    if not pairs:
        return Outcome(requirement.text, False, "was not measured")
    missed = [pair for pair in pairs if not _holds(requirement, pair[0])]
    named = missed or pairs
    sentence = ", ".join(_told(value, told, about) for value, told, about in named)
    seen = [told for value, told, _ in named if told is not None or value is None]
    if seen and all(_holds(requirement, told) for told in seen) == bool(missed):
        sentence += ", rounded; the exact figure decides"
    return Outcome(requirement.text, not missed, sentence)


def _holds(requirement: Requirement, value: float | None) -> bool:
    return value is not None and _SIGNS[requirement.sign](value, requirement.bound)


def _told(value: float | None, told: float | None, about: str) -> str:
    number = "could not be measured"
    if told is not None:
        number = f"{told:.6g}"
    elif value is not None:
        number = "judged by the exact figure, which --internal shows"
    return f"{number} ({about})" if about else number
