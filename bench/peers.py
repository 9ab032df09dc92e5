"""Run anonypy, pycanon and anjana on Adult, in an environment of their own; print JSON.

Called by bench/anonymity.py as a script: `peers.py adult-folder generalized.csv classes.npy`.
"""

from __future__ import annotations

import csv
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

K = 5


def main(folder: Path, generalized: Path, classes: Path) -> None:
    from anjana.anonymity._k_anonymity import k_anonymity_inner
    from anonypy.mondrian import Mondrian

    rows = pd.read_csv(folder / "adult_9col.csv", sep=";")
    columns = list(rows.columns)

    frame = rows.astype({column: "category" for column in columns if column != "age"})
    seconds, parts = timed(lambda: Mondrian(frame, columns, "occupation").partition(K))
    number = np.empty(len(rows), dtype=np.int64)
    for at, part in enumerate(parts):
        number[part] = at
    np.save(classes, number)
    found: dict[str, object] = {"anonypy_s": seconds}

    text = rows.astype(str)
    hierarchies = {column: hierarchy(folder, column) for column in columns}
    seconds, answer = timed(lambda: k_anonymity_inner(text.copy(), [], columns, K, 4, hierarchies))
    found |= {"anjana_s": seconds, "anjana_levels": [int(answer[2][c]) for c in columns]}

    for name, table in (("raw", rows), ("generalized", pd.read_csv(generalized, dtype=str))):
        found[name] = measured(table)
    json.dump(found, sys.stdout)


def measured(table: pd.DataFrame) -> dict[str, float]:
    from pycanon import anonymity

    quasi = [column for column in table.columns if column != "occupation"]
    sensitive = ["occupation"]
    start = time.perf_counter()
    alpha, k = anonymity.alpha_k_anonymity(table, quasi, sensitive)
    figures = {
        "k": float(k),
        "l": float(anonymity.l_diversity(table, quasi, sensitive)),
        "t": float(anonymity.t_closeness(table, quasi, sensitive)),
        "alpha": float(alpha),
    }
    return figures | {"seconds": time.perf_counter() - start}


def hierarchy(folder: Path, column: str) -> dict[int, Any]:
    """anjana's way: an array of labels for each level, one entry a leaf."""
    file = folder / "hierarchies" / f"adult_hierarchy_{column}.csv"
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.reader(lines, delimiter=";") if row]
    return {level: np.array(labels) for level, labels in enumerate(zip(*rows, strict=True))}


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    answer = action()
    return time.perf_counter() - start, answer


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(Path, sys.argv[1:]))
