"""`graded_grouping(bands => …)`: a number becomes its band's name plus its place in the band."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import ArgumentSpec, one_of
from ppdm_sql.treatments.band_limits import read_bands, read_names
from ppdm_sql.treatments.expressions import (
    as_double,
    call,
    comparison,
    count_where,
    double,
    literal_of,
    never,
    only_finite,
)
from ppdm_sql.treatments.kernels.affine import LARGEST
from ppdm_sql.treatments.kernels.bands import (
    END_OF_BAND,
    Bands,
    below_next,
    graded_bands,
    graded_grouping,
)
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import DOUBLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.band_limits import Limits
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_NOT_AGREED = (
    "a number of bands is cut from one site's column: give the limits, bands => [15, 30, 45]"
)


@dataclass(frozen=True, slots=True)
class GradedGrouping(Treatment):
    """Bands by their limits, or their number when they are cut from the data."""

    keyword = "graded_grouping"
    summary = "a number becomes its band's name plus its place inside the band"
    reading = (
        "the name of a band plus the place inside it: order inside a band is right, distances from"
        " one band to another are not"
    )
    missing = "or in no band"
    undone_by = (
        "two known values in a band, or evenly spaced values, whose spacing shows the band's width"
    )
    exactness = Exactness.NEAR
    traits = Traits(mixes_columns=False, links_rows=False, has_bands=True)
    kinds = NUMBERS
    instead = "for categories write mapping()"
    arguments = (
        ArgumentSpec("bands", read_bands),
        ArgumentSpec("names", read_names),
        one_of("outside", "error", "null", "clamp"),
    )
    releases = DOUBLE
    kernels = (
        Kernel("ppdm_graded_grouping", ("DOUBLE", "DOUBLE[]"), "DOUBLE", graded_grouping),
        Kernel(
            "ppdm_graded_bands",
            ("DOUBLE", "DOUBLE[]", "DOUBLE[]", "DOUBLE[]", "BOOLEAN"),
            "DOUBLE",
            graded_bands,
        ),
    )

    bands: int | Limits = field(repr=False)
    """How many equal ones between the smallest and the largest value, or their limits."""
    names: tuple[int, ...] = field(repr=False)
    outside: str

    @property
    def column(self) -> InputColumn:
        """The column."""
        return self.columns[0]

    @property
    def limits(self) -> Limits | None:
        """The limits of the bands; None: they are cut from the column."""
        return None if isinstance(self.bands, int) else self.bands

    @property
    def count(self) -> int:
        """How many bands there are."""
        return self.bands if isinstance(self.bands, int) else len(self.bands)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the range of the column when it is cut into equal bands."""
        if self.limits:
            return {}
        x = as_double(inputs[0])
        finite = only_finite(x)
        return {
            "values": exp.Count(this=x.copy()),
            "finite": exp.Count(this=finite),
            "low": exp.Min(this=finite.copy()),
            "high": exp.Max(this=finite.copy()),
        }

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Fix the limits."""
        limits = self.limits or self._cut(statistics)
        parameters: dict[str, Parameter] = {}
        for i, ((low, high), name) in enumerate(zip(limits, self.names, strict=True), start=1):
            parameters |= {f"low_{i}": low, f"high_{i}": high, f"name_{i}": float(name)}
            if not self._is_shared(i):
                parameters[f"last_{i}"] = float(below_next(np.array([name], dtype=np.float64))[0])
        return Drawn(parameters)

    def why_not_agreed(self) -> str | None:
        """Equal bands are cut from the column; limits are not."""
        return None if self.limits else _NOT_AGREED

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a balanced tree of comparisons: its cost grows with log(bands)."""
        x = inputs[0] if self.column.type == DOUBLE else scope.let(as_double(inputs[0]))
        graded = exp.case().when(
            exp.GTE(this=x.copy(), expression=scope.parameter("low_1")),
            self._search(x, scope, 1, self.count),
        )
        if self.outside == "clamp":
            below = exp.LT(this=x.copy(), expression=scope.parameter("low_1"))
            graded = graded.when(below, scope.parameter("name_1"))
        return (graded,)

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return a call of `ppdm_graded_grouping`, or of `ppdm_graded_bands` where it must be."""

        def listed(stem: str) -> exp.Expr:
            return exp.Array(
                expressions=[scope.parameter(f"{stem}_{i}") for i in range(1, self.count + 1)]
            )

        if self.outside != "clamp" and self._is_plain():
            # One list a row instead of three: handing lists over is what costs.
            edges = listed("low")
            edges.append("expressions", scope.parameter(f"high_{self.count}"))
            return (call(self.kernels[0], as_double(inputs[0]), edges),)
        return (
            call(
                self.kernels[1],
                as_double(inputs[0]),
                *map(listed, ("low", "high", "name")),
                exp.true() if self.outside == "clamp" else exp.false(),
            ),
        )

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count the values that fell into no band, unless the owner said what becomes of them."""
        if self.outside != "error":
            return {}
        lost = exp.and_(inputs[0].is_(exp.null()).not_(), outputs[0].is_(exp.null()))
        return {"outside": count_where(lost)}

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when values lie in no band."""
        outside = int(results.get("outside") or 0)
        if outside:
            verb = "lies" if outside == 1 else "lie"
            raise TreatmentError(
                f"graded_grouping: {plural(outside, 'value')} of '{self.column.name}' "
                f"{verb} in no band (NaN and infinity are in none)",
                hint="widen the bands, or write outside => 'null' or outside => 'clamp'",
                code="data_does_not_fit",
            )
        return ()

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Return original values as DOUBLE, exact to about 1e-12 of a band's width."""
        y = np.asarray(outputs[0].to_numpy(zero_copy_only=False), dtype=np.float64)
        x = self._bands(drawn).ungrade(y)
        return (pa.array(x, mask=np.isnan(x)),)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Rewrite a threshold: order is kept, but for the end of a band that took the 0.999."""
        if isinstance(literal, str):
            return None
        bands = self._bands(drawn)
        condition = self._threshold(operator, float(literal), columns[index], bands)
        if condition is None or self.outside != "null":
            return condition
        # What lies outside was released as NULL and is in no condition.
        return exp.and_(condition, _inside(columns[index], bands))

    def released_null(self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0) -> exp.Expr:
        """Return where there is no value, or one in no band."""
        no_value = columns[index].is_(exp.null())
        if self.outside != "null":
            return no_value
        inside = _inside(columns[index], self._bands(drawn))
        return exp.or_(no_value, exp.not_(exp.paren(inside)))

    def _threshold(
        self, operator: str, literal: float, column: exp.Expr, bands: Bands
    ) -> exp.Expr | None:
        """Rewrite a comparison for the values that lie in bands."""
        first, last = float(bands.names[0]), float(bands.names[-1])
        if self.outside == "clamp":
            # A clamped value shares the image of a limit: only what is clear is rewritten.
            near_end = last + END_OF_BAND <= literal < last + 1
            if len(bands.ranges()) > 1 or operator in ("=", "<>") or near_end:
                return None
            if literal <= first:
                return _always(operator, column) if literal == first else _beyond(operator, column)
        if operator in ("=", "<>"):
            original = bands.ungrade(np.array([literal], dtype=np.float64))[0]
            if np.isnan(original) or (
                literal - np.floor(literal) == 0 and literal not in bands.names
            ):
                return never(operator, column)
            return comparison(operator, column, literal_of(bands.snap(float(original), literal)))
        at = int(np.searchsorted(bands.names, literal, side="right")) - 1
        place = float(literal - bands.names[at]) if at >= 0 else 1.0
        if place >= 1 and at + 1 < self.count:
            # No released value lies between two names: compare with the next band's first.
            at, place, operator = at + 1, 0.0, {"<=": "<", ">": ">="}.get(operator, operator)
        low, high = float(bands.lows[at]), float(bands.highs[at])
        if place >= 1:  # above every released value
            return column.is_(exp.null()).not_() if operator in ("<", "<=") else exp.false()
        original = bands.snap(low + place * (high - low), literal)
        condition = comparison(operator, column, literal_of(original))
        if condition is None or self._is_shared(at + 1) or not place:
            return condition
        end = float(bands.names[at]) + END_OF_BAND
        if literal < end or (literal == end and operator in (">=", "<")):
            return condition
        is_end = exp.EQ(this=column.copy(), expression=literal_of(high))
        if operator in (">", ">="):
            return exp.and_(condition, exp.not_(is_end))
        return exp.or_(condition, is_end)

    def _cut(self, statistics: Statistics) -> tuple[tuple[float, float], ...]:
        """Cut the column's range into equal bands."""
        values, finite = int(statistics["values"]), int(statistics["finite"])
        if finite < values and self.outside == "error":
            raise TreatmentError(
                f"graded_grouping: '{self.column.name}' holds "
                f"{plural(values - finite, 'value')} that are NaN or infinite",
                hint="write outside => 'null' to release them as NULL, or give the limits",
                code="data_does_not_fit",
            )
        if not finite:
            raise TreatmentError(
                f"graded_grouping: '{self.column.name}' has no values to cut into bands",
                hint="give the limits: bands => [15, 30, 45]",
                code="data_does_not_fit",
            )
        if self.count > finite:
            raise TreatmentError(
                f"graded_grouping: {self.count} bands for {plural(finite, 'value')} "
                f"of '{self.column.name}'",
                hint=f"write at most bands => {finite}, or give the limits",
                code="data_does_not_fit",
            )
        low, high = float(statistics["low"]), float(statistics["high"])
        if max(abs(low), abs(high)) > LARGEST:
            raise TreatmentError(
                f"graded_grouping: values of '{self.column.name}' beyond {LARGEST:g} make no bands",
                hint="give the limits, and outside => 'null' or outside => 'clamp'",
                code="data_does_not_fit",
            )
        edges = np.linspace(low, high, self.count + 1)
        if not np.all(edges[:-1] < edges[1:]):
            raise TreatmentError(
                f"graded_grouping: '{self.column.name}' is constant, there is nothing to cut",
                hint="give the limits: bands => [15, 30, 45], or write suppress()",
                code="data_does_not_fit",
            )
        return tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def _search(self, x: exp.Expr, scope: Scope, first: int, last: int) -> exp.Expr:
        if first == last:
            return self._band(x, scope, first)
        middle = (first + last + 1) // 2
        return (
            exp.case()
            .when(
                exp.LT(this=x.copy(), expression=scope.parameter(f"low_{middle}")),
                self._search(x, scope, first, middle - 1),
            )
            .else_(self._search(x, scope, middle, last))
        )

    def _band(self, x: exp.Expr, scope: Scope, i: int) -> exp.Expr:
        def refer(stem: str, at: int = i) -> exp.Expr:
            return scope.parameter(f"{stem}_{at}")

        line: exp.Expr = refer("name") + exp.paren(x.copy() - refer("low")) / exp.paren(
            refer("high") - refer("low")
        )
        if self._is_shared(i):
            return line
        inside = exp.LT(this=x.copy(), expression=refer("high"))
        end = refer("name") + double(str(END_OF_BAND))
        graded = (
            exp.case()
            # A place just below 1 may round up to it. Not LEAST, which is slow in DuckDB.
            .when(exp.and_(inside, exp.LTE(this=line, expression=refer("last"))), line.copy())
            .when(inside.copy(), refer("last"))
            .when(exp.EQ(this=x.copy(), expression=refer("high")), end)
        )
        if self.outside != "clamp":
            return graded
        if i < self.count:
            nearer_below = exp.LT(
                this=x.copy() - refer("high"), expression=refer("low", i + 1) - x.copy()
            )
            graded = graded.when(nearer_below, end.copy())
            return graded.else_(refer("name", i + 1))
        # NaN sorts above infinity and stays NULL.
        return graded.when(exp.LTE(this=x.copy(), expression=double("Infinity")), end.copy())

    def _is_shared(self, i: int) -> bool:
        """Whether band i ends where the next begins."""
        if i == self.count:
            return False
        return self.limits is None or self.limits[i - 1][1] == self.limits[i][0]

    def _is_plain(self) -> bool:
        """Whether bands share all their edges and are named 1, 2, …."""
        is_gapless = all(self._is_shared(i) for i in range(1, self.count))
        return is_gapless and self.names == tuple(range(1, self.count + 1))

    def _bands(self, drawn: Drawn) -> Bands:
        def column(stem: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
            values = (float(drawn.parameters[f"{stem}_{i}"]) for i in range(1, self.count + 1))
            return np.fromiter(values, dtype=np.float64, count=self.count)

        return Bands(column("low"), column("high"), column("name"))


def _inside(column: exp.Expr, bands: Bands) -> exp.Expr:
    """Return where a value lies in a band."""
    return exp.or_(
        *(
            exp.and_(
                exp.GTE(this=column.copy(), expression=literal_of(low)),
                exp.LTE(this=column.copy(), expression=literal_of(high)),
            )
            for low, high in bands.ranges()
        )
    )


def _always(operator: str, column: exp.Expr) -> exp.Expr | None:
    """Return what a comparison with the least image means where everything below is clamped."""
    if operator in (">=", "<"):
        return column.is_(exp.null()).not_() if operator == ">=" else exp.false()
    return None


def _beyond(operator: str, column: exp.Expr) -> exp.Expr:
    """Return what a comparison with less than every image means."""
    return column.is_(exp.null()).not_() if operator in (">", ">=") else exp.false()
