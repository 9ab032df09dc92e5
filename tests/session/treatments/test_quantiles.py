"""Quantiles in SQL against the kernels that define them, from the ends to the middle."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

from ppdm_sql.engine.sql import to_sql
from ppdm_sql.treatments.kernels.normal import normal_inverse
from ppdm_sql.treatments.quantiles import laplace_quantile, normal_quantile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ppdm_sql.treatments.protocol import Scope

    Floats = npt.NDArray[np.float64]

MIDDLE_ENDS = [0.5 + sign * math.nextafter(0.425, to) for sign in (-1, 1) for to in (0, 0.425, 1)]
FAR_ENDS = [math.exp(-25.0) * (1 + step * 2.0**-50) for step in (-4, -1, 0, 1, 4)]
ODD = [2.0**-53, 1 - 2.0**-53, 0.5, 0.5 - 2.0**-53, 0.5 + 2.0**-53, 1e-15, 1 - 1e-15]
_TOPS = np.random.default_rng(11).integers(0, 2**52, 5_000)
DRAWN: list[float] = [*ODD, *MIDDLE_ENDS, *FAR_ENDS, *(1 - u for u in FAR_ENDS)]
DRAWN += ((_TOPS + 0.5) / 2.0**52).tolist()
DRAWN += [2.0**-power for power in range(2, 54)] + [1 - 2.0**-power for power in range(2, 54)]
"""Where the formulas meet, the ends, and draws from everywhere."""


class Inline:
    """A scope that keeps nothing apart: what is computed once is written out."""

    def let(self, value: exp.Expr) -> exp.Expr:
        return exp.paren(value)


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def in_sql(
    engine: duckdb.DuckDBPyConnection, tree: exp.Expr, values: Sequence[float | None]
) -> Floats:
    engine.register("draws", pa.table({"u": pa.array(values, pa.float64())}))
    found = engine.sql(f'SELECT {to_sql(tree)} AS z FROM "draws"').to_arrow_table()
    engine.unregister("draws")
    numbers: Floats = found["z"].to_numpy()
    return numbers


def normal(scope: Scope) -> exp.Expr:
    return normal_quantile(exp.column(exp.to_identifier("u", quoted=True)), scope)


def laplace() -> exp.Expr:
    return laplace_quantile(exp.column(exp.to_identifier("u", quoted=True)))


def test_the_normal_quantile_is_the_kernel_s(engine: duckdb.DuckDBPyConnection) -> None:
    found = in_sql(engine, normal(Inline()), DRAWN)  # type: ignore[arg-type]
    expected = normal_inverse(np.array(DRAWN))
    assert found == pytest.approx(expected, rel=1e-14, abs=0)
    assert found == pytest.approx([NormalDist().inv_cdf(u) for u in DRAWN], rel=1e-12, abs=1e-16)
    # Without a logarithm, the same bits.
    in_the_middle = np.abs(np.array(DRAWN) - 0.5) <= 0.425
    assert (found == expected)[in_the_middle].all()


def test_the_laplace_quantile_is_its_definition(engine: duckdb.DuckDBPyConnection) -> None:
    sides = [u - 0.5 for u in DRAWN if u >= 2.0**-53]
    found = in_sql(engine, laplace(), [side + 0.5 for side in sides])
    expected = [math.copysign(math.log1p(-2 * abs(side)), side) for side in sides]
    assert found == pytest.approx(expected, rel=1e-14, abs=0)


def test_nothing_drawn_gives_nothing(engine: duckdb.DuckDBPyConnection) -> None:
    for tree in (normal(Inline()), laplace()):  # type: ignore[arg-type]
        assert np.isnan(in_sql(engine, tree, [None])).all()
