"""Group anonymity on UCI Adult: the search alone, Mondrian and measuring, beside their peers.

anonypy, pycanon and anjana run in an environment of their own, `.venv-peers`, which the first
run makes; their clocks run in the same minutes as ours, on the same rows.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
import venv
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bench.measure import Figure, best
from ppdm_sql.groups.search import (
    BoolArray,
    Closeness,
    DistinctL,
    IntArray,
    K,
    Loss,
    Measures,
    Problem,
    ilm,
    list_minimal,
    measure,
    mondrian,
    reached,
    search_optimal,
)
from tests.unit.anonymity.adult import COLUMNS, EIGHT, FIVE, Adult, Coded, code, read_adult
from tests.unit.anonymity.mach2019 import read_mach2019

_PEERS = ("anonypy", "pycanon", "anjana")
_LOSSES: tuple[Loss, ...] = ("ilm", "precision")


def run(rows: int) -> Iterator[Figure]:
    """Measure on Adult, whatever the number of rows asked for."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
    folder = Path(os.environ.get("PPDM_ADULT", beside))
    if not (folder / "adult_9col.csv").exists():
        return
    adult = read_adult(folder)
    for loss in _LOSSES:
        yield from _search(adult, loss)
    yield from _many_columns(beside.with_name("mach2019"))
    yield from _minimal(adult)
    # The clock of the whole statement, CREATE RELEASE … GENERALIZE, belongs here.
    yield from _beside_peers(adult, folder)


def _search(adult: Adult, loss: Loss) -> Iterator[Figure]:
    """From coded combinations to the proven optimum."""
    nine, five = code(adult, COLUMNS).problem, code(adult, FIVE).problem
    eight = code(adult, EIGHT, "occupation").problem
    for what, problem, targets, suppression, bound in (
        ("9 columns, k = 5, 0 %", nine, (K(5),), 0.0, 0.1),
        ("9 columns, k = 5, 4 %", nine, (K(5),), 0.04, 0.8),
        ("9 columns, k = 5, 100 %", nine, (K(5),), 1.0, 1.2),
        ("5 columns, k = 5, 4 %", five, (K(5),), 0.04, 0.03),
        ("8 columns, k = 5, l = 3, 4 %", eight, (K(5), DistinctL(0, 3)), 0.04, 0.5),
        ("8 columns, k = 5, t = 0.3, 4 %", eight, (K(5), Closeness(0, 0.3)), 0.04, None),
    ):
        find = partial(search_optimal, problem, targets, suppression, loss)
        seconds, outcome = best(find, times=7), find()
        checks = f"{outcome.checked} of {outcome.nodes} nodes"
        yield Figure(f"search, {loss}: {what} ({checks})", seconds, "s", bound)


def _many_columns(folder: Path) -> Iterator[Figure]:
    """What a search over sixteen columns has after two seconds; ARX's genetic one: 0.5404 after ten."""
    if not folder.exists():
        return
    outcome = search_optimal(read_mach2019(folder), (K(5),), 1.0, "ilm", time_limit_s=2)
    what = f"16 columns, {outcome.nodes:,} nodes, k = 5, 100 %: loss after 2 s"
    yield Figure(f"search, ilm: {what} ({outcome.checked} checks)", outcome.loss, "", 0.5367)


def _minimal(adult: Adult) -> Iterator[Figure]:
    problem = code(adult, COLUMNS).problem
    for suppression in (0.0, 0.04):
        find = partial(list_minimal, problem, (K(5),), suppression, "ilm")
        yield Figure(
            f"all minimal nodes, 9 columns, k = 5, {suppression:.0%}", best(find, times=2), "s"
        )


def _beside_peers(adult: Adult, folder: Path) -> Iterator[Figure]:
    nine, eight = code(adult, COLUMNS), code(adult, EIGHT, "occupation")
    # Our clocks start where theirs do: at the rows in memory.
    cut_s = best(lambda: mondrian(code(adult, COLUMNS).problem, (K(5),)), times=5)
    measure_s = best(lambda: _measure_rows(adult), times=5)
    partition = mondrian(nine.problem, (K(5),))
    assert partition is not None
    yield Figure("Mondrian, 9 columns, k = 5, from rows in memory", cut_s, "s")
    yield Figure("measuring k, l, t, α, 8 columns, from rows in memory", measure_s, "s")

    outcome = search_optimal(eight.problem, (K(5),), 0.04, "ilm")
    assert outcome.levels is not None
    assert outcome.classes is not None
    assert outcome.suppressed is not None
    with tempfile.TemporaryDirectory() as scratch:
        table, classes = Path(scratch) / "generalized.csv", Path(scratch) / "classes.npy"
        kept = ~outcome.suppressed[eight.combination]
        _generalize(adult, outcome.levels)[kept].to_csv(table, index=False)
        peers = _run_peers(folder, table, classes)
        theirs = np.load(classes)
    yield Figure("Mondrian by anonypy", peers["anonypy_s"], "s")
    yield Figure("Mondrian, ours / anonypy", cut_s / peers["anonypy_s"], "×", 0.05)
    ours = partition.classes[nine.combination]
    by_tree = _hierarchy_loss(nine, ours), _hierarchy_loss(nine, theirs)
    by_set = _set_loss(adult, ours), _set_loss(adult, theirs)
    yield Figure("Mondrian, loss by hierarchies, ours / anonypy", by_tree[0] / by_tree[1], "×", 1)
    # anonypy publishes sets of values instead of groups; counted as such it keeps more.
    yield Figure("Mondrian, loss by sets of values, ours / anonypy", by_set[0] / by_set[1], "×")

    levels = peers["anjana_levels"]
    yield Figure("search by anjana, 9 columns, k = 5, 4 %", peers["anjana_s"], "s")
    lost = ilm(nine.problem, levels, ~reached(nine.problem, _classes(nine.problem, levels), [K(5)]))
    least = search_optimal(nine.problem, (K(5),), 0.04, "ilm").loss
    yield Figure("search, loss (ilm), ours / anjana", least / lost, "×", 1)

    yield Figure("measuring by pycanon", peers["raw"]["seconds"], "s")
    yield Figure("measuring, ours / pycanon", measure_s / peers["raw"]["seconds"], "×", 0.02)
    apart = max(
        _difference(_measure_rows(adult), peers["raw"]),
        _difference(
            _measure_kept(eight, outcome.classes, outcome.suppressed), peers["generalized"]
        ),
    )
    yield Figure("measuring, largest difference from pycanon", apart, "", 1e-9)


def _measure_rows(adult: Adult) -> Measures:
    problem = code(adult, EIGHT, "occupation").problem
    return measure(problem, np.arange(len(problem.rows)))


def _measure_kept(coded: Coded, classes: IntArray, suppressed: BoolArray) -> Measures:
    """Measure as pycanon must: it knows no rows but those of the table it is given."""
    problem = coded.problem
    (column,) = problem.sensitive
    held = column.count * ~suppressed[column.combination]
    counts = np.bincount(column.value, held, minlength=column.values)
    alone = dataclasses.replace(column, reference=counts / counts.sum())
    return measure(dataclasses.replace(problem, sensitive=(alone,)), classes, ~suppressed)


def _difference(figures: Measures, theirs: dict[str, float]) -> float:
    (column,) = figures.sensitive
    ours = {"k": figures.k, "l": column.distinct_l, "t": column.t, "alpha": column.alpha}
    return max(abs(ours[name] - theirs[name]) for name in ours)


def _generalize(adult: Adult, levels: tuple[int, ...]) -> pd.DataFrame:
    """Write the rows at a node, with their occupation."""
    table = adult.rows[["occupation"]].copy()
    for column, level in zip(EIGHT, levels, strict=True):
        labels = {leaf: row[level] for leaf, row in adult.hierarchies[column].items()}
        table[column] = adult.rows[column].map(labels)
    return table


def _classes(problem: Problem, levels: list[int]) -> IntArray:
    groups = [
        axis.groups[level][codes]
        for axis, level, codes in zip(problem.axes, levels, problem.codes, strict=True)
    ]
    numbers: IntArray = np.unique(np.stack(groups), axis=1, return_inverse=True)[1]
    return numbers


def _hierarchy_loss(coded: Coded, classes: IntArray) -> float:
    """Cells as the lowest group (age: the range) that holds the class: leaves covered."""
    widths = []
    for axis, codes in zip(coded.problem.axes, coded.problem.codes, strict=True):
        code_of_row = codes[coded.combination]
        if axis.order is not None:
            ranks = pd.Series(np.argsort(np.argsort(axis.order))[code_of_row]).groupby(classes)
            wide = ranks.transform("max") - ranks.transform("min")
            widths.append((wide / (axis.values - 1)).mean())
            continue
        width = np.ones(len(classes))
        for groups, covered in zip(axis.groups[::-1], axis.covered[::-1], strict=True):
            distinct = pd.Series(groups[code_of_row]).groupby(classes).transform("nunique")
            share = (covered[code_of_row] - 1) / (axis.leaves - 1)
            width = np.where(distinct == 1, share, width)
        widths.append(width.mean())
    return float(np.mean(widths))


def _set_loss(adult: Adult, classes: IntArray) -> float:
    """Cells as the set of values (age: the range) of the class: values covered."""
    widths = []
    for column in COLUMNS:
        values = adult.rows[column]
        if column == "age":
            ages = values.astype(int)
            of_class = ages.groupby(classes)
            wide = of_class.transform("max") - of_class.transform("min")
            widths.append((wide / (ages.max() - ages.min())).mean())
        else:
            distinct = values.groupby(classes).transform("nunique")
            widths.append(((distinct - 1) / (values.nunique() - 1)).mean())
    return float(np.mean(widths))


def _run_peers(folder: Path, generalized: Path, classes: Path) -> dict[str, Any]:
    home = Path(".venv-peers")
    python = home / "bin" / "python"
    if not (home / ".ready").exists():
        venv.create(home, with_pip=True, clear=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_PEERS],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        (home / ".ready").touch()
    script = Path(__file__).with_name("peers.py")
    done = subprocess.run(
        [python, script, folder, generalized, classes], check=True, capture_output=True, text=True
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
