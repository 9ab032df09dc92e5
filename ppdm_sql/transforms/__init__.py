"""The treatments, one file each. A new one adds its file, one line here and one README row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.transforms.graded_grouping import GradedGrouping
from ppdm_sql.transforms.keep import Keep
from ppdm_sql.transforms.mapping import Mapping
from ppdm_sql.transforms.pseudonym import Pseudonym
from ppdm_sql.transforms.suppress import Suppress

if TYPE_CHECKING:
    from ppdm_sql.model.transform import Transform

TRANSFORMS: tuple[type[Transform], ...] = (
    Keep,
    Suppress,
    GradedGrouping,
    Mapping,
    Pseudonym,
)
