"""The treatments, one file each. A new one adds its file, one line here and one row of docs/treatments.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.treatments.bit_minus import BitMinus
from ppdm_sql.treatments.bit_plus import BitPlus
from ppdm_sql.treatments.graded_grouping import GradedGrouping
from ppdm_sql.treatments.hybrid import Hybrid
from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.mapping import Mapping
from ppdm_sql.treatments.mean_noise import MeanNoise
from ppdm_sql.treatments.microaggregation import Microaggregation
from ppdm_sql.treatments.noise import Noise
from ppdm_sql.treatments.pseudonym import Pseudonym
from ppdm_sql.treatments.rotation import Rotation
from ppdm_sql.treatments.scaling import Scaling
from ppdm_sql.treatments.suppress import Suppress
from ppdm_sql.treatments.translation import Translation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.engine.kernel import Kernel
    from ppdm_sql.treatments.protocol import Transform

TRANSFORMS: tuple[type[Transform], ...] = (
    Keep,
    Suppress,
    GradedGrouping,
    Mapping,
    Pseudonym,
    BitPlus,
    BitMinus,
    Translation,
    Scaling,
    Rotation,
    Hybrid,
    Noise,
    MeanNoise,
    Microaggregation,
)


def kernels_of(transforms: Sequence[type[Transform]]) -> tuple[Kernel, ...]:
    """Return the Python functions that treatments call in SQL."""
    return tuple(kernel for one in transforms for kernel in getattr(one, "kernels", ()))
