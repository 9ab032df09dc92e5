"""The treatments, one file each. A new one adds its file, one line here and one row of docs/treatments.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.transforms.bit_minus import BitMinus
from ppdm_sql.transforms.bit_plus import BitPlus
from ppdm_sql.transforms.graded_grouping import GradedGrouping
from ppdm_sql.transforms.hybrid import Hybrid
from ppdm_sql.transforms.keep import Keep
from ppdm_sql.transforms.mapping import Mapping
from ppdm_sql.transforms.mean_noise import MeanNoise
from ppdm_sql.transforms.microaggregation import Microaggregation
from ppdm_sql.transforms.noise import Noise
from ppdm_sql.transforms.pseudonym import Pseudonym
from ppdm_sql.transforms.rotation import Rotation
from ppdm_sql.transforms.scaling import Scaling
from ppdm_sql.transforms.suppress import Suppress
from ppdm_sql.transforms.translation import Translation

if TYPE_CHECKING:
    from ppdm_sql.model.transform import Transform

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
