"""Noise that would not hide what it is added to: refused when it is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ppdm_sql.errors import TreatmentError
from ppdm_sql.treatments.numbers import TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.language.syntax import TreatmentCall
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.distributions import Distribution
    from ppdm_sql.treatments.protocol import InputColumn

_FEWEST_UNITS = 2


def check_factors(is_per_person: bool, leaves_rows: bool) -> None:
    """Refuse factors that show numbers as they were, by their ratios or by having no decimals."""
    if is_per_person:
        raise TreatmentError(
            "noise: one factor for all rows of a person shows the ratios of their values, and"
            " ratios of whole numbers show the values",
            hint="leave out multiplicative => true, or per => 'person'",
            code="bad_argument",
        )
    if leaves_rows:
        raise TreatmentError(
            "noise: products have many decimals, so that the rows which 'rho' leaves alone are"
            " recognised",
            hint="leave out multiplicative => true, or rho (round => false accepts it)",
            code="bad_argument",
        )


def check_relative(
    call: TreatmentCall,
    distributions: Sequence[Distribution],
    columns: Sequence[InputColumn],
    multiplicative: bool,
) -> None:
    """Refuse a relative size where there is none."""
    for distribution, column in zip(distributions, columns, strict=True):
        if distribution.relative is not None and (multiplicative or column.type.kind in TIMES):
            raise TreatmentError(
                f"noise: {'factors are relative' if multiplicative else 'a date has no size'}",
                call.span,
                "write normal(1, 0.1)" if multiplicative else "write the days: normal(0, 10)",
                code="bad_argument",
            )


def check_size(distribution: Distribution, column: InputColumn, unit: float) -> None:
    """Refuse noise that is lost where sums are rounded as the column is written."""
    if not unit or distribution.deviation * unit >= _FEWEST_UNITS:
        return
    half = 0.5 / unit
    unchanged = distribution.below(half) - distribution.below(-half)
    raise TreatmentError(
        f"noise: it is too small for '{column.name}': after rounding to steps of {1 / unit:.6g},"
        f" {unchanged:.0%} of the values would stay as they are",
        hint="use larger noise (with round => false it is accepted, but whoever rounds the result gets"
        " that many right)",
        code="noise_too_small",
    )


def check_single(column: InputColumn) -> None:
    """Refuse to leave rows of a FLOAT alone where sums are not rounded."""
    if column.type.text == "FLOAT":
        raise TreatmentError(
            f"noise: 'rho' cannot hide which rows of '{column.name}' it leaves alone: they keep"
            " the digits of a FLOAT",
            hint="cast it to DECIMAL in a (SELECT …) source, or leave rho out",
            code="data_does_not_fit",
        )


def check_room(distribution: Distribution, column: InputColumn, largest: float | None) -> None:
    """Refuse noise that is lost in the rounding of the numbers it is added to."""
    step = math.ulp(float(largest)) if largest is not None else 0.0
    if distribution.deviation < _FEWEST_UNITS * step:
        raise TreatmentError(
            f"noise: it is too small for '{column.name}', which has numbers so"
            f" large that a sum is rounded to steps of {step:.6g}",
            hint="use larger noise, or subtract a constant in a (SELECT …) source",
            code="noise_too_small",
        )


def read_rho(arguments: Arguments) -> float | None:
    """Return the percentage of the rows that get noise; None: all of them."""
    if "rho" not in arguments:
        return None
    value = arguments.value("rho")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 100:
        arguments.fail("rho", "'rho' is the percentage of rows, above 0 and at most 100")
    return float(value)


def said_of_rho(rho: float, unrounded: Sequence[InputColumn]) -> Iterator[str]:
    """Warn where hardly any row gets noise, and where decimals show which ones did not."""
    if rho < 1:
        yield (
            f"noise: with rho => {rho:g}, fewer than one of a hundred rows get noise, and all others"
            " are released as they are: 'rho' is a number from 0 to 100"
        )
    if unrounded:
        names = ", ".join(str(column.name) for column in unrounded)
        yield (
            f"noise: the values of '{names}' have many decimals, so that sums are not rounded: where the"
            " original values have few, the decimals show which rows 'rho' left alone"
        )
