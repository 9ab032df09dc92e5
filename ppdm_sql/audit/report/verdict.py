"""The verdict in three sentences: protection, attacks, cost. No false comfort."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.audit.attacks.protocol import NONE, Needs
from ppdm_sql.audit.attacks.scoring import percent
from ppdm_sql.audit.measure.risk import NO_ROW
from ppdm_sql.errors import plural
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.audit.attacks.protocol import Finding
    from ppdm_sql.audit.measure.figure import Figure
    from ppdm_sql.audit.report.model import ColumnReport

CAVEAT = (
    "These are the attacks that were tried, on the data as it is today. They bound nothing: this is "
    "not differential privacy, and pseudonymised data is personal data."
)
MARGIN = 0.01
"""An attack that gets no more than this beyond guessing gains nothing."""
_ABOUT = 0.9
_CROWDS = ((0.99, "all"), (0.6, "most"), (0.1, "many"), (0.0, "some"))
_SOME = 0.05
"""More KEYs than this that stand as they were come before everything else."""


def verdict(
    figures: Sequence[Figure],
    attacks: Sequence[Finding],
    columns: Sequence[ColumnReport],
    worst: int | None,
) -> tuple[str, str, str]:
    """Return the three sentences; `worst` is the place of the strongest attack."""
    found = None if worst is None else attacks[worst]
    return (_protection(figures, columns), _attacks(attacks, found), _cost(figures, columns))


def strongest(attacks: Sequence[Finding]) -> int | None:
    """Return which attack gains most over guessing; None where none gains anything.

    Attacks come in the order of what they need: among those that gain about as much, the one
    that needs least is the strongest. Whoever knows all of a person learns least by finding the
    row: that comes last.
    """
    for is_last in (False, True):
        gains = [a.gain if (a.needs is Needs.PERSON) == is_last else 0.0 for a in attacks]
        most = max(gains, default=0.0)
        if most > MARGIN:
            return next(place for place, gain in enumerate(gains) if gain >= _ABOUT * most)
    return None


def _protection(figures: Sequence[Figure], columns: Sequence[ColumnReport]) -> str:
    shown = [(f.about, f.value or 0.0) for f in figures if f.name == "keys_shown"]
    key, share = max(shown, key=lambda one: one[1], default=("", 0.0))
    if share > _SOME:
        whole = (
            "is released unchanged"
            if share == 1
            else f"is released unchanged in {percent(share)} of the rows"
        )
        return (
            f"{key}, the KEY, {whole}, so that whoever knows a person's KEY finds their rows, whatever"
            " the other columns hide."
        )
    quasi = [column for column in columns if column.role == Role.QUASI]
    if not quasi:
        return (
            "No released column is declared QUASI, so that nothing was measured of how people"
            " could be found by what others know of them."
        )
    found = {figure.name: figure.value for figure in figures if not figure.about}
    if found.get("k") is None:
        sentence = next((figure.sentence for figure in figures if figure.name == "k"), "")
        return f"{(sentence or NO_ROW).capitalize()}."
    if any(figure.name == "k_high" and figure.is_withheld for figure in figures):
        return (
            "Only the high class is protected. The release does not show who is in it, so its"
            " figures are in the internal report only."
        )
    if "k_high" in found:
        return _high_class(found)
    is_plain = all(t.shows_originals or t.generalizes for c in quasi for t in c.traits)
    return f"{_everybody(found, is_plain)}{_one_value(figures, found.get('unique_share') or 0.0)}."


def _one_value(figures: Sequence[Figure], alone: float) -> str:
    """Say whose class discloses a sensitive value, beside those who are alone in theirs."""
    shares = [(f.value or 0.0, f.about) for f in figures if f.name == "homogeneous"]
    share, column = max(shares, key=lambda one: one[0], default=(0.0, ""))
    if share <= alone + MARGIN:
        return ""
    return f"; the class of {percent(share)} of the people has one {column} only and so reveals it"


def _everybody(found: Mapping[str, float | None], is_plain: bool) -> str:
    k, linked = int(found["k"] or 0), int(found.get("k_linked") or 0)
    alone, together = (found.get(n) or 0.0 for n in ("unique_share", "linked_unique_share"))
    finder = "whoever knows their quasi-identifiers finds them with certainty"
    if not is_plain:
        finder = "whoever knows their quasi-identifiers and what these became finds them"
    if together > alone:
        return (
            f"{percent(together)} of the people are alone in what all their rows show, which"
            f" a released column puts together, and {finder}"
        )
    if k == 1:
        return f"{percent(alone)} of the people are alone in their QUASI columns, and {finder}"
    others = plural(k - 1, "other")
    if 0 < linked < k:
        return (
            f"In every row, people share their QUASI columns with at least {others}, but a released"
            " column puts rows of one person together, so that the most exposed person is"
            f" found with a probability of {percent(1 / linked)}"
        )
    return (
        f"Everybody shares their QUASI columns with at least {others}, so that by these the most"
        f" exposed person is found with a probability of {percent(1 / k)}"
    )


def _high_class(found: Mapping[str, float | None]) -> str:
    """Only some rows are protected: what that gives away belongs into the same sentence."""
    k, linked = found["k_high"], found.get("high_linked")
    crowd = (
        "All of the high class is suppressed"
        if k is None
        else f"Only the high class is protected, where everybody shares their QUASI columns with at"
        f" least {plural(int(k) - 1, 'other')}"
    )
    absent = percent(found.get("absence") or 0.0)
    gaps = [f"{absent} of it can be recognised, because no untouched row shows the same"]
    if linked:
        gaps.append(f"{percent(linked)} of its rows can be tied to untouched rows of the person")
    if together := found.get("linked_unique_share"):
        gaps.append(f"{percent(together)} of all people are alone in what their rows show together")
    alone = percent(found.get("untouched_unique_share") or 0.0)
    gaps.append(f"{alone} of the untouched rows are unique")
    return f"{crowd}; {', '.join(gaps[:-1])}, and {gaps[-1]}."


def _attacks(attacks: Sequence[Finding], worst: Finding | None) -> str:
    if not attacks:
        return "No attack of ours applies to this release, which says nothing of others."
    if worst is None:
        tried = "The one attack" if len(attacks) == 1 else f"None of the {len(attacks)} attacks"
        verb = "got no more" if len(attacks) == 1 else "got more"
        return f"{tried} tried {verb} than guessing would."
    needs = "no knowledge at all" if worst.knowledge == NONE else f"to know {worst.knowledge}"
    about = f" on {worst.target}" if worst.target else ""
    return (
        f"The strongest attack is {worst.attack}{about}. It needs {needs}."
        f" {_said(worst)}{_found_again(attacks, worst)}"
    )


def _said(found: Finding) -> str:
    begin = f"{found.sentence[:1].upper()}{found.sentence[1:]}"
    return f"{begin} (guessing alone: {percent(found.chance)})."


def _found_again(attacks: Sequence[Finding], worst: Finding) -> str:
    """Say what somebody finds who knows all of a person, where another attack is the strongest."""
    if worst.needs is Needs.PERSON:
        return ""
    best = max(
        (one for one in attacks if one.needs is Needs.PERSON),
        key=lambda one: one.gain,
        default=None,
    )
    if best is None or best.gain <= MARGIN:
        return ""
    # In words: the figure stands in the table, and is another one for other rows looked for.
    found = next(word for least, word in _CROWDS if best.share >= least)
    return f" Who knows {best.needs.value} finds the rows of {found} people ({best.attack})."


def _cost(figures: Sequence[Figure], columns: Sequence[ColumnReport]) -> str:
    # A treatment can leave every value as it was: level 0 of a hierarchy, digits of one place.
    same = {f.about for f in figures if f.name == "changed" and f.value == 0}
    kept = [c.name for c in columns if c.name in same or c.is_kept]
    treated = [c for c in columns if c.name not in kept]
    measured = [c.utility for c in treated if c.utility is not None]
    found = {f.name: f.value for f in figures if f.name in ("untouched", "suppressed")}
    rest = []
    if kept:
        how = "is released unchanged" if len(kept) == 1 else "are released unchanged"
        rest.append(f"{', '.join(kept)} {how}")
    if untouched := found.get("untouched"):
        rest.append(f"{percent(untouched)} of the rows are released ungeneralized")
    if suppressed := found.get("suppressed"):
        rest.append(f"{percent(suppressed)} of the rows are suppressed")
    listed = ", and ".join(rest)
    if not treated:
        cost = "It costs nothing" if not suppressed else "It costs rows, not values"
        return f"{cost}, because nothing is treated: {listed or 'the release contains no columns'}."
    if measured:
        mean = sum(measured) / len(measured)
        cost = f"The treated columns keep {percent(mean)} of their information, on average"
    else:
        cost = "What the treated columns keep could not be measured"
    return f"{cost}; {listed}." if listed else f"{cost}, and no column is released unchanged."
