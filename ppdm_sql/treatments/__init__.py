"""The treatments, one file each. A new one adds its file, one line here and one row of docs/owner/treatments.md."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppdm_sql.errors import TreatmentError
from ppdm_sql.treatments.age_at import AgeAt
from ppdm_sql.treatments.date_shift import DateShift
from ppdm_sql.treatments.digit_shift import BitMinus, BitPlus
from ppdm_sql.treatments.email import Email
from ppdm_sql.treatments.encrypt import Encrypt
from ppdm_sql.treatments.fake import Fake
from ppdm_sql.treatments.generalized_column import Generalize
from ppdm_sql.treatments.graded_grouping import GradedGrouping
from ppdm_sql.treatments.hybrid import Hybrid
from ppdm_sql.treatments.ip import Ip
from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.limit_code import BottomCode, TopCode
from ppdm_sql.treatments.mapping import Mapping
from ppdm_sql.treatments.mean_noise import MeanNoise
from ppdm_sql.treatments.microaggregation import Microaggregation
from ppdm_sql.treatments.noise import Noise
from ppdm_sql.treatments.partial import Partial
from ppdm_sql.treatments.pram import Pram
from ppdm_sql.treatments.pseudonym import Pseudonym
from ppdm_sql.treatments.random_round import RandomRound
from ppdm_sql.treatments.rank_swap import RankSwap
from ppdm_sql.treatments.rotation import Rotation
from ppdm_sql.treatments.round import Round
from ppdm_sql.treatments.scaling import Scaling
from ppdm_sql.treatments.shuffle import Shuffle
from ppdm_sql.treatments.suppress import Suppress
from ppdm_sql.treatments.traits import UNKNOWN
from ppdm_sql.treatments.translation import Translation
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.treatments.truncate import Truncate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.engine.kernel import Kernel
    from ppdm_sql.treatments.traits import Traits

TREATMENTS: tuple[type[Treatment], ...] = (
    Keep,
    Suppress,
    GradedGrouping,
    Mapping,
    Pseudonym,
    Email,
    Fake,
    Encrypt,
    BitPlus,
    BitMinus,
    Translation,
    DateShift,
    Truncate,
    AgeAt,
    Round,
    RandomRound,
    TopCode,
    BottomCode,
    Partial,
    Ip,
    Pram,
    RankSwap,
    Shuffle,
    Scaling,
    Rotation,
    Hybrid,
    Noise,
    MeanNoise,
    Microaggregation,
)


def kernels_of(treatments: Sequence[type[Treatment]]) -> tuple[Kernel, ...]:
    """Return the Python functions that treatments call in SQL."""
    return tuple(dict.fromkeys(kernel for one in treatments for kernel in one.kernels))


def with_added(added: Sequence[type[Treatment]]) -> tuple[type[Treatment], ...]:
    """Return all treatments and those that somebody adds; refuse a word that there is already."""
    known = {one.keyword for one in TREATMENTS} | {Generalize.keyword}
    for one in _listed(added):
        if one.keyword in known:
            raise TreatmentError(
                f"there is already a treatment '{one.keyword}'", code="treatment_exists"
            )
        known.add(one.keyword)
    return (*TREATMENTS, *added)


def _listed(added: object) -> Iterator[type[Treatment]]:
    """Return classes of treatments; raise where there is anything else, or what is declared is missing."""
    if not isinstance(added, Sequence):
        raise TreatmentError(
            "'treatments' must be a list of classes",
            hint="write connect(…, treatments=[Initial])",
            code="wrong_treatment",
        )
    for one in added:
        if not (isinstance(one, type) and issubclass(one, Treatment)):
            raise TreatmentError(
                "a treatment of one's own is a class that derives from ppdm_sql.treatments.Treatment",
                code="wrong_treatment",
            )
        missing = [name for name in ("keyword", "summary", "undone_by") if not hasattr(one, name)]
        if missing:
            raise TreatmentError(
                f"{one.__name__} does not say its {' and its '.join(missing)}",
                hint=f'write {missing[0]} = "…" in the class',
                code="wrong_treatment",
            )
        yield one


def traits_of(word: str, treatments: Sequence[type[Treatment]] = TREATMENTS) -> Traits:
    """Return what may be relied on in a treatment; of a word that nobody knows, nothing."""
    known: tuple[type[Treatment], ...] = (*treatments, Generalize)
    return next((one.traits for one in known if one.keyword == word), UNKNOWN)
