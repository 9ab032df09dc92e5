"""What the miner does to a table, and what somebody with all raw data would do: the same.

Nothing here depends on the order of rows or on how categories are called, so that two tables
that say the same give the same results.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pandas as pd
from mlxtend.frequent_patterns import association_rules, fpgrowth
from sklearn.cluster import KMeans
from sklearn.tree import DecisionTreeClassifier, export_text

if TYPE_CHECKING:
    import numpy.typing as npt

CLUSTERS = 4
MEASURES = ["support", "confidence"]


def read(file: Path, table: str) -> pd.DataFrame:
    """Return a table of a database file."""
    with duckdb.connect(file, read_only=True) as connection:
        frame: pd.DataFrame = connection.table(table).df()
    return frame


def by_frequency(labels: pd.Series) -> tuple[npt.NDArray[np.intp], list[str]]:
    """Return codes and names of classes, the most frequent first: names do not matter."""
    names = [str(name) for name in labels.value_counts().index]
    return pd.Categorical(labels, names).codes.astype(np.intp), names


def features(frame: pd.DataFrame, target: str) -> pd.DataFrame:
    """Return numbers as they are and categories one-hot, columns in an order of counts."""
    numbers = frame.select_dtypes("number")
    rest = frame.drop(columns=[*numbers.columns, target])
    flags = pd.get_dummies(rest, dtype=int)
    ordered = sorted(flags.columns, key=lambda name: (_stem(name, rest), -flags[name].sum()))
    return pd.concat([numbers, flags[ordered]], axis=1)


def _stem(flag: str, frame: pd.DataFrame) -> str:
    return next(str(name) for name in frame.columns if flag.startswith(f"{name}_"))


def tree(frame: pd.DataFrame, target: str) -> tuple[DecisionTreeClassifier, str, list[int]]:
    """Return a decision tree, its text, and how many rows reach each of its nodes."""
    codes, names = by_frequency(frame[target])
    table = features(frame, target)
    grown = DecisionTreeClassifier(max_depth=4, min_samples_leaf=20, random_state=0)
    grown.fit(table.to_numpy(dtype=float), codes)
    text = export_text(grown, feature_names=list(table.columns), class_names=names, decimals=4)
    return grown, str(text), sorted(grown.tree_.n_node_samples.tolist())


def rules(frame: pd.DataFrame) -> pd.DataFrame:
    """Return association rules over the categories, as mlxtend gives them."""
    texts = frame.select_dtypes(exclude="number")
    items = pd.get_dummies(texts, prefix_sep="=", dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mlxtend divides by zero where a rule is certain
        found: pd.DataFrame = association_rules(
            fpgrowth(items, min_support=0.03, use_colnames=True), min_threshold=0.6
        )
    return found[["antecedents", "consequents", *MEASURES]]


def clusters(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[int]]:
    """Return centroids of k-means on normalised numbers, and the sizes of clusters."""
    numbers = frame.select_dtypes("number").dropna()
    spread = numbers.std(ddof=0)
    normal = ((numbers - numbers.mean()) / spread).to_numpy(dtype=float)
    start = np.quantile(normal, np.linspace(0.1, 0.9, CLUSTERS), axis=0)
    found = KMeans(CLUSTERS, init=start, n_init=1, max_iter=300, tol=0).fit(normal)
    centres = found.cluster_centers_ * spread.to_numpy() + numbers.mean().to_numpy()
    sizes = np.bincount(found.labels_, minlength=CLUSTERS)
    return pd.DataFrame(centres, columns=numbers.columns), sorted(sizes.tolist())


def mine(file: Path, table: str, target: str, folder: Path) -> None:
    """Mine a table and write results, for the sites, and a summary, to compare."""
    frame = read(file, table).drop(columns=["person", "name"], errors="ignore")
    grown, text, nodes = tree(frame, target)
    codes, _ = by_frequency(frame[target])
    accuracy = grown.score(features(frame, target).to_numpy(dtype=float), codes)
    found = rules(frame)
    centres, sizes = clusters(frame)
    folder.mkdir(exist_ok=True)
    (folder / "tree.txt").write_text(text, encoding="utf-8")
    found.to_csv(folder / "rules.csv", index=False)
    centres.to_csv(folder / "centroids.csv", index=False)
    summary = {
        "rows": len(frame),
        "tree: rows classified right": f"{accuracy:.4%}",
        "tree: rows at each node": nodes,
        "rules": len(found),
        "k-means: rows in each cluster": sizes,
    }
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


if __name__ == "__main__":
    mine(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]))
