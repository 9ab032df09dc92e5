"""What WHEN leaves open, against plain counting."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppdm_sql.audit.measure.high_class import scba_figures
from ppdm_sql.audit.read.subject import Column, Subject, Values
from ppdm_sql.language.syntax import Role
from tests.cases import cases
from tests.unit.audit.subjects import labels

GROUP, STAR = 98, 99
Row: TypeAlias = tuple[int, int, int, int, bool, bool]
"""zip, street, person, alias of the illness, whether it is high, whether it is kept as `*`."""
ROWS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.integers(-1, 2),
        st.integers(0, 6),
        st.integers(-1, 2),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=25,
)


def shown(row: Row, is_coarse: bool) -> tuple[int, int]:
    zip_code, street, _, _, is_high, is_star = row
    if is_high and is_star:
        return STAR, -1
    return (GROUP if is_high and is_coarse else zip_code), street


def release(rows: list[Row], is_coarse: bool) -> Subject:
    """zip is generalized in high rows; street leaves as it is, and as NULL beside a `*`."""
    seen = [shown(row, is_coarse) for row in rows]
    zip_code = Column(
        "zip",
        Role.QUASI,
        ("generalize",),
        0,
        Values(labels=np.array([row[0] for row in rows])),
        Values(labels=np.array([one[0] for one in seen])),
    )
    streets = [row[1] for row in rows], [one[1] for one in seen]
    aliases = [row[3] for row in rows]
    return Subject(
        (
            zip_code,
            labels("street", *streets, treatment="keep", role=Role.QUASI),
            labels("illness", aliases, aliases),
        ),
        len(rows),
        np.array([row[2] for row in rows]),
        np.array([row[4] for row in rows]),
        np.array([row[4] and row[5] for row in rows]),
    )


@settings(max_examples=cases(200))
@given(ROWS, st.booleans())
def test_figures_are_what_plain_counting_gives(rows: list[Row], is_coarse: bool) -> None:
    found = {f.name: f.value for f in scba_figures(release(rows, is_coarse))}
    high, low = [row for row in rows if row[4]], [row for row in rows if not row[4]]
    if not high:
        assert found == {}
        return
    crowds: dict[tuple[int, int], set[int]] = defaultdict(set)
    everybody: dict[tuple[int, int], set[int]] = defaultdict(set)
    for row in rows:
        everybody[shown(row, is_coarse)].add(row[2])
        if row[4] and not row[5]:
            crowds[shown(row, is_coarse)].add(row[2])
    assert found["k_high"] == min((len(people) for people in crowds.values()), default=None)
    assert found["untouched"] == pytest.approx(len(low) / len(rows))
    alone = sum(len(everybody[shown(row, is_coarse)]) == 1 for row in low)
    assert found["untouched_unique_share"] == pytest.approx(alone / max(len(low), 1))
    untouched = {row[:2] for row in low}
    absent = sum(row[:2] not in untouched for row in high)
    assert found["absence"] == pytest.approx(absent / len(high))
    told = [row[3] for row in high if row[3] >= 0]
    common = {row[3] for row in low}
    expected = sum(alias not in common for alias in told) / len(told) if told else None
    assert found.get("high_only") == (None if expected is None else pytest.approx(expected))


def test_a_star_hides_no_street_from_whoever_knows_it() -> None:
    """The only high row is kept as `*`; an untouched row lives in the same street."""
    found = {
        f.name: f.value
        for f in scba_figures(release([(1, 2, 0, 0, True, True), (1, 2, 1, 0, False, False)], True))
    }
    assert found["absence"] == 0
