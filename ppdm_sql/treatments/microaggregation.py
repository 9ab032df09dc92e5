"""`microaggregation(size => 5)`: a value becomes the mean of its group of similar values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.kernels import grouping, mdav
from ppdm_sql.treatments.kernels.groups_of_size import groups_of_size
from ppdm_sql.treatments.numbers import NumberTreatment, lost_rows, sorted_values
from ppdm_sql.treatments.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import Joined, Keys, Scope, Statistics

    Floats = npt.NDArray[np.float64]

_MOST = 1_000_000
_RANGES, _ROWS, _GROUPS = "ranges", "rows", "groups"
_WRITE = "write microaggregation(clusters => 3) or microaggregation(size => 5)"


def _number(name: str, low: int, high: int) -> ArgumentSpec:
    return ArgumentSpec(
        name, lambda given, _: given.integer(name, low, low, high) if name in given else None
    )


@dataclass(frozen=True, slots=True)
class Microaggregation(NumberTreatment):
    """Groups are frozen when the release is made; a later row takes the nearest of them.

    One column: ranges, found by their cut points. Several: each row's group is kept with its
    values; a row not seen then goes to the group whose mean is nearest, columns standardized.
    """

    keyword = "microaggregation"
    summary = "a value becomes the mean of its group of similar values"
    reading = "the mean of a group of similar rows: sums and means are right, variances too small"
    undone_by = "nothing exactly; a value is near its group's mean"
    traits = Traits(
        mixes_columns=False, links_rows=False, stays_near=True, keeps_sums=True, shows_means=True
    )  # fmt: skip
    arguments = (_number("clusters", 1, 10_000), _number("size", 2, _MOST))
    not_agreed = "the groups are formed of one site's rows"

    clusters: int | None = field(repr=False)
    size: int | None = field(repr=False)

    def check_arguments(self, given: Arguments) -> None:
        """Raise unless there is one of the two, by its name; a group of columns needs `size`."""
        if any(argument.name is None for argument in given.call.arguments):
            raise TreatmentError(
                "microaggregation: a number alone may be of groups or of rows",
                given.call.span,
                _WRITE,
                code="bad_argument",
            )
        if ("clusters" in given) == ("size" in given):
            raise TreatmentError(
                "microaggregation takes 'clusters' or 'size'",
                given.call.span,
                _WRITE,
                code="bad_argument",
            )
        if len(self.columns) > 1 and "clusters" in given:
            given.fail("clusters", "a group of columns is aggregated by 'size'", _WRITE)

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        """Ask for the values, several columns row by row."""
        numbers = self.numbers(inputs)
        if len(numbers) == 1:
            return {"values": exp.ArrayAgg(this=numbers[0])}
        row = exp.Struct(
            expressions=[
                exp.PropertyEQ(this=exp.to_identifier(f"c{index}"), expression=number)
                for index, number in enumerate(numbers)
            ]
        )
        return {"values": exp.ArrayAgg(this=row)}

    def draw_anew(self, statistics: Statistics, keys: Keys) -> Drawn:
        """Form the groups."""
        if len(self.columns) == 1:
            return self._draw_one(sorted_values(statistics["values"]))
        return self._draw_several(_matrix(statistics["values"], len(self.columns)))

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the means that the joined tables give."""
        numbers = [scope.let(number) for number in self.numbers(inputs)]
        if len(numbers) == 1:
            found = scope.join_below(_RANGES, numbers[0])("released")
            return (_unless_null([numbers[0]], found),)
        known = scope.join(
            _ROWS, {f"original_{index}": number for index, number in enumerate(numbers)}
        )
        unknown = exp.and_(
            known("released_0").is_(exp.null()),
            *(number.copy().is_(exp.null()).not_() for number in numbers),
        )

        def distance(group: Joined) -> exp.Expr:
            total: exp.Expr | None = None
            for index, number in enumerate(numbers):
                away = exp.Div(
                    this=exp.paren(number.copy() - group(f"released_{index}")),
                    expression=scope.parameter(f"spread_{index}"),
                )
                squared = exp.Mul(this=exp.paren(away), expression=exp.paren(away.copy()))
                total = squared if total is None else exp.Add(this=total, expression=squared)
            assert total is not None
            return total

        nearest = scope.join_nearest(_GROUPS, unknown, distance)
        return tuple(
            _unless_null(
                numbers,
                exp.case()
                .when(known(f"released_{index}").is_(exp.null()), nearest(f"released_{index}"))
                .else_(known(f"released_{index}")),
            )
            for index in range(len(numbers))
        )

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that cannot be computed; one NULL of a row makes all of it NULL."""
        return lost_rows(self.columns, inputs)

    def disclosed(self, drawn: Drawn, index: int = 0) -> str | None:
        """Return how many groups there are, and how large."""
        found = drawn.parameters
        return f"{found['groups']} groups of at least {found['smallest']} rows"

    def note(self, drawn: Drawn) -> str:
        """Say how many groups there are and how much of the variance went into them."""
        parameters = drawn.parameters
        text = (
            f"{parameters['groups']:,} groups, the smallest of {parameters['smallest']:,}; "
            f"{parameters['loss']:.2%} of the variance is lost"
        )
        if int(parameters["blocks"]) > 1:
            text += (
                f"; grouped in {parameters['blocks']} blocks along the principal component, "
                f"because there are more than {mdav.EXACT_UP_TO:,} distinct rows"
            )
        return text

    def _draw_one(self, values: Floats) -> Drawn:
        self._check_count(len(values), len(np.unique(values)))
        if self.size is not None:
            starts = groups_of_size(values, self.size)
        else:
            starts = grouping.groups_of_clusters(values, self.clusters or 1)
        averages = grouping.means(values, starts)
        sizes = np.diff(np.append(starts, len(values)))
        if sizes.min() < 2:
            raise TreatmentError(
                f"microaggregation: a cluster of '{self.columns[0].name}' would have one row, and its"
                " mean be the value itself",
                hint="write fewer clusters, or size => 5",
                code="data_does_not_fit",
            )
        unit = max(float(np.abs(values).max()), np.finfo(float).tiny)
        within = float((((values - np.repeat(averages, sizes)) / unit) ** 2).sum())
        total = float((((values - values.mean()) / unit) ** 2).sum())
        table = pa.table({"original": grouping.cut_points(values, starts), "released": averages})
        return Drawn(_facts(len(starts), int(sizes.min()), within, total), {_RANGES: table})

    def _draw_several(self, rows: Floats) -> Drawn:
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        self._check_count(len(rows), len(distinct))
        unit = np.maximum(np.abs(rows).max(axis=0), np.finfo(float).tiny)
        centre = rows.mean(axis=0)
        spread = ((rows - centre) / unit).std(axis=0) * unit
        spread = np.where(spread > 0, spread, unit)
        points = (distinct - centre) / spread
        size = self.size or 1
        groups = mdav.mdav(points, counts, size)
        made = int(groups.max()) + 1
        weight = np.bincount(groups, weights=counts, minlength=made)
        averages = np.stack(
            [
                np.bincount(groups, weights=column * counts, minlength=made) / weight
                for column in distinct.T
            ],
            axis=1,
        )
        away = (distinct - averages[groups]) / spread
        parameters = _facts(
            made,
            int(weight.min()),
            float((counts[:, None] * away**2).sum()),
            float((counts[:, None] * points**2).sum()),
            len(mdav.blocks(points, counts, size)),
        )
        parameters |= {f"spread_{i}": float(part) for i, part in enumerate(spread)}
        known = {f"original_{i}": column for i, column in enumerate(distinct.T)}
        known |= {f"released_{i}": column for i, column in enumerate(averages[groups].T)}
        all_groups = {"number": np.arange(made)}
        all_groups |= {f"released_{i}": column for i, column in enumerate(averages.T)}
        return Drawn(parameters, {_ROWS: pa.table(known), _GROUPS: pa.table(all_groups)})

    def _check_count(self, rows: int, distinct: int) -> None:
        wanted = self.size if self.size is not None else self.clusters or 1
        have = rows if self.size is not None else distinct
        if have < wanted:
            names = ", ".join(str(column.name) for column in self.columns)
            what = "rows" if self.size is not None else "distinct values"
            raise TreatmentError(
                f"microaggregation: '{names}' has {plural(have, what[:-1], what)}, "
                f"fewer than the {wanted:,} asked for",
                code="data_does_not_fit",
            )


def _facts(
    groups: int, smallest: int, within: float, total: float, blocks: int = 1
) -> dict[str, Parameter]:
    """What a note will say: kept with the parameters, told without them."""
    return {
        "groups": groups,
        "smallest": smallest,
        "loss": within / total if total else 0.0,
        "blocks": blocks,
    }


def _matrix(cell: Any, columns: int) -> Floats:
    """Return the rows of a list of structs, without those that hold a NULL."""
    values = cell.values
    if values is None:
        return np.empty((0, columns))
    parts = [
        np.asarray(part.to_numpy(zero_copy_only=False), dtype=np.float64)
        for part in values.flatten()
    ]
    rows: Floats = np.stack(parts, axis=1)
    kept: Floats = rows[~np.isnan(rows).any(axis=1)]
    return kept


def _unless_null(numbers: Sequence[exp.Expr], value: exp.Expr) -> exp.Expr:
    """NULL stays NULL: a join from below finds nothing for it, but says so only here."""
    present = [number.copy().is_(exp.null()).not_() for number in numbers]
    return exp.case().when(exp.and_(*present), value)
