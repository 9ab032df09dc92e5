"""`shuffle`: numbers that follow from nothing."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ppdm_sql.treatments.kernels.shuffle import shuffle


def test_every_row_gets_a_number_of_its_own_whatever_its_value() -> None:
    drawn = shuffle(pa.array([1.0, None] * 5000))
    assert drawn.type == pa.uint64()
    assert (len(drawn), drawn.null_count) == (10_000, 0)
    assert pc.count_distinct(drawn).as_py() == 10_000  # two of 2**64 equal: p < 1e-11
    assert not shuffle(pa.array([1.0, None] * 5000)).equals(drawn)


def test_no_rows_get_no_numbers() -> None:
    assert len(shuffle(pa.array([], pa.float64()))) == 0
