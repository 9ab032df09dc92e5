"""Document 004, figures 2 to 4: Bit++, Bit--, additive noise and microaggregation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import ppdm_sql
from experiments.section import Section, table
from ppdm_sql.audit.measure.clustering import k_means, misclassified, spread_starts

if TYPE_CHECKING:
    import numpy.typing as npt

    from ppdm_sql.owner import Owner

    Numbers = npt.NDArray[np.float64]

_SIZES = (3_000, 5_000, 10_000, 15_000, 20_000)
_COLUMNS = ("salary", "tax", "weeks")
_CLUSTERS, _RUNS = 3, 5
_METHODS = {
    "Bit++": "bit_plus()",
    "Bit--": "bit_minus()",
    "additive noise": "mean_noise()",
    "microaggregation": "microaggregation(clusters => 10)",
}
_SOURCE = """
CREATE OR REPLACE TABLE employees AS
SELECT
    i AS id,
    (12_000 + 600 * sqrt(hash(i, 'rank') % 10_000) + hash(i, 'luck') % 9_000)::INTEGER AS salary,
    (salary * (0.08 + hash(i, 'rate') % 1_000 / 6_000))::INTEGER AS tax,
    least(52, 4 + hash(i, 'weeks') % 60)::INTEGER AS weeks
FROM range($size) AS numbers (i)
"""


def run() -> Section:
    """Release employees of five sizes in four ways; measure as the document does."""
    found: dict[tuple[str, int], tuple[float, float, float]] = {}
    with ppdm_sql.connect(":memory:") as owner:
        for size in _SIZES:
            owner.execute(_SOURCE, {"size": size})
            original = _numbers(owner, "employees")
            for name, treatment in _METHODS.items():
                rules = ", ".join(f"{column} SENSITIVE AS {treatment}" for column in _COLUMNS)
                owner.execute(
                    f"CREATE OR REPLACE RELEASE study.staff FROM employees (id KEY AS keep(), {rules})"
                )
                found[name, size] = _measures(original, _numbers(owner, "study.staff"))
    return Section("Document 004: digits, noise and microaggregation", _text(found))


def _numbers(owner: Owner, name: str) -> Numbers:
    frame = owner.sql(f"SELECT {', '.join(_COLUMNS)} FROM {name} ORDER BY id").df()
    values: Numbers = frame.to_numpy(dtype=np.float64)
    return values


def _measures(x: Numbers, y: Numbers) -> tuple[float, float, float]:
    """Return accuracy of the mean, share of changed values, clustering accuracy, in percent."""
    drift = np.abs(y.mean(axis=0) - x.mean(axis=0)) / x.mean(axis=0)
    changed = (x != y).mean()
    kept = []
    for column in range(x.shape[1]):
        before, after = x[:, [column]], y[:, [column]]
        generator = np.random.default_rng(column)
        for _ in range(_RUNS):
            start = spread_starts(before, _CLUSTERS, generator)
            first, second = (k_means(side, _CLUSTERS, start) for side in (before, after))
            kept.append(1 - misclassified(first, second, _CLUSTERS))
    return 100 * float(1 - drift.mean()), 100 * float(changed), 100 * float(np.mean(kept))


def _text(found: dict[tuple[str, int], tuple[float, float, float]]) -> str:
    titles = (
        "Figure 2: statistical accuracy, 100 less how far the mean moved, in percent",
        "Figure 3: privacy protection, share of values that changed, in percent",
        "Figure 4: clustering accuracy of k-means with 3 clusters, in percent",
    )
    header = ["method", *(f"{size:,}" for size in _SIZES)]
    tables = "\n\n".join(
        f"{title}.\n\n"
        + table(
            header,
            [[name, *(f"{found[name, s][index]:.2f}" for s in _SIZES)] for name in _METHODS],
        )
        for index, title in enumerate(titles)
    )
    best = [_best(found, index) for index in range(3)]
    return f"""Generated employees, 3,000 to 20,000 of them; means over salary, income tax and weeks worked. The
document's figures are pictures without numbers, so that only what it concludes from them can be
compared: additive noise keeps the mean best, Bit++ changes most and clusters best.

{tables}

| | the document | here |
| --- | --- | --- |
| mean kept best | additive noise | {best[0]} |
| most values changed | Bit++ | {best[1]} |
| clustered best | Bit++ | {best[2]} |

What the document leaves out: Bit++ and Bit-- do not change numbers of one digit, which is why fewer
than all values change, and there is no secret in them, so that the audit's `digit_shift` gets every
value back. Additive noise moves every value by one of two amounts that shrink as rows are added:
the more rows, the nearer to the original everything stays, clusters included.
"""


def _best(found: dict[tuple[str, int], tuple[float, float, float]], index: int) -> str:
    """Return the methods that are best at the largest size, to two decimals."""
    last = {name: round(found[name, _SIZES[-1]][index], 2) for name in _METHODS}
    return ", ".join(name for name, value in last.items() if value == max(last.values()))
