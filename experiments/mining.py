"""What documents 000 and 001 mine: the same code for original and released rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from mlxtend.frequent_patterns import association_rules, fpgrowth
from sklearn.cluster import KMeans
from sklearn.model_selection import KFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier

from experiments.adult import CATEGORIES, CLASS

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.intp]

SEED, FOLDS, CLUSTERS = 7, 10, 5


def first_seen(frame: pd.DataFrame) -> Codes:
    """Return class codes in the order in which classes appear: they do not depend on names."""
    return pd.factorize(frame[CLASS])[0]


def by_name(frame: pd.DataFrame) -> tuple[Codes, list[str]]:
    """Return class codes in the order of names, as scikit-learn makes them, and the names."""
    codes, names = pd.factorize(frame[CLASS], sort=True)
    return codes, [str(name) for name in names]


def table(frame: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Return age and the other categories one-hot."""
    others = [name for name in CATEGORIES if name != CLASS]
    flags = pd.get_dummies(frame[others], dtype=float)
    return np.column_stack([frame["age"].to_numpy(dtype=float), flags.to_numpy()])


def codes_of_categories(frame: pd.DataFrame) -> npt.NDArray[np.intp]:
    """Return the other categories as numbers."""
    others = [name for name in CATEGORIES if name != CLASS]
    return np.column_stack([pd.factorize(frame[name], sort=True)[0] for name in others])


def zero_rule(frame: pd.DataFrame) -> int:
    """Return how many rows have the most frequent class."""
    return int(frame[CLASS].value_counts().iloc[0])


def tree_on_training_rows(frame: pd.DataFrame) -> Codes:
    """Return the classes that a tree gives to the rows it was grown on."""
    grown = DecisionTreeClassifier(random_state=SEED).fit(table(frame), first_seen(frame))
    return np.asarray(grown.predict(table(frame)))


def tree_on_held_out_rows(frame: pd.DataFrame, codes: Codes) -> Codes:
    """Return the classes that trees give to rows they did not see, ten folds."""
    rows = table(frame)
    found = np.empty(len(rows), dtype=np.intp)
    for train, test in KFold(FOLDS, shuffle=True, random_state=SEED).split(rows):
        grown = DecisionTreeClassifier(random_state=SEED)
        found[test] = grown.fit(rows[train], codes[train]).predict(rows[test])
    return found


def rows_on_a_threshold(frame: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which held-out rows meet a threshold of age that is their own age."""
    rows, codes = table(frame), first_seen(frame)
    found = np.zeros(len(rows), dtype=bool)
    for train, test in KFold(FOLDS, shuffle=True, random_state=SEED).split(rows):
        grown = DecisionTreeClassifier(random_state=SEED).fit(rows[train], codes[train])
        path = grown.decision_path(rows[test].astype(np.float32)).tocoo()
        nodes, at = grown.tree_, test[path.row]
        meets = (nodes.feature[path.col] == 0) & (nodes.threshold[path.col] == rows[at, 0])
        found[at[meets]] = True
    return found


def naive_bayes(frame: pd.DataFrame) -> Codes:
    """Return classes by categorical columns and a Gaussian age without smoothing of its variance."""
    codes, others = first_seen(frame), codes_of_categories(frame)
    age = frame[["age"]].to_numpy(dtype=float)
    gaussian = GaussianNB(var_smoothing=0).fit(age, codes)
    categorical = CategoricalNB(min_categories=others.max(axis=0) + 1).fit(others, codes)
    # Each of the two counts the classes; once is enough.
    joint = (
        gaussian.predict_joint_log_proba(age)
        + categorical.predict_joint_log_proba(others)
        - np.log(gaussian.class_prior_)
    )
    return np.asarray(joint.argmax(axis=1))


def stock_naive_bayes(frame: pd.DataFrame) -> Codes:
    """Return classes by scikit-learn's GaussianNB over everything, as it comes."""
    rows, codes = table(frame), first_seen(frame)
    return np.asarray(GaussianNB().fit(rows, codes).predict(rows))


def rules(frame: pd.DataFrame) -> pd.DataFrame:
    """Return association rules over all columns, each age an item."""
    items = frame.assign(age=frame["age"].map(repr_of))
    flags = pd.get_dummies(items, prefix_sep="=", dtype=bool)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mlxtend divides by zero where a rule is certain
        frequent = fpgrowth(flags, min_support=0.02, use_colnames=True, max_len=3)
        found: pd.DataFrame = association_rules(frequent, min_threshold=0.5)
    return found[["antecedents", "consequents", "support", "confidence"]]


def repr_of(value: Any) -> str:
    """Return a number as text that gives it back to the bit."""
    return repr(float(value)).removesuffix(".0")


def as_set(found: pd.DataFrame) -> set[tuple[Any, ...]]:
    """Return rules to be compared one by one, measures included."""
    return set(found.itertuples(index=False, name=None))


def clusters(frame: pd.DataFrame) -> tuple[Codes, float]:
    """Return the partition of k-means on columns between 0 and 1, and its error."""
    rows = table(frame)
    low, high = rows.min(axis=0), rows.max(axis=0)
    normal = (rows - low) / (high - low)
    start = normal[np.random.default_rng(SEED).choice(len(normal), CLUSTERS, replace=False)]
    found = KMeans(CLUSTERS, init=start, n_init=1, tol=0, max_iter=500).fit(normal)
    return np.asarray(found.labels_), float(found.inertia_)
