"""A decision tree trained on original and on released columns: what it can tell of a category.

scikit-learn comes with the extra `audit`; without it this figure is left out, and the report says
so.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.language.syntax import Role

if TYPE_CHECKING:
    from ppdm_sql.audit.read.subject import Column, Subject, Values
    from ppdm_sql.groups.search import FloatArray, IntArray

_DEPTH, _FOLDS, _MOST_CLASSES = 8, 3, 50
_ROWS_A_CLASS = 10
"""With fewer rows a class on average there is nothing to learn."""


def is_available() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def classifier_figures(subject: Subject) -> list[Figure]:
    """Return how well a tree predicts one category from the rest, before and after."""
    target = _target(subject)
    if target is None:
        return []
    others = [c for c in subject.columns if c is not target and c.role is not Role.KEY]
    if not others:
        return []
    before = accuracy(_features(others, released=False), target.original.codes())
    after = accuracy(_features(others, released=True), target.released.codes())
    sentence = "accuracy of a decision tree that predicts it from the other columns"
    return [
        Figure("utility", "tree_original", target.name, before, f"{sentence}, on the original"),
        Figure("utility", "tree_released", target.name, after, f"{sentence}, on the release"),
    ]


def accuracy(features: FloatArray, labels: IntArray) -> float:
    """Return the cross-validated accuracy of a decision tree."""
    from sklearn.model_selection import KFold, cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    tree = DecisionTreeClassifier(max_depth=_DEPTH, random_state=0)
    folds = KFold(_FOLDS, shuffle=True, random_state=0)
    return float(np.mean(cross_val_score(tree, features, labels, cv=folds)))


def _target(subject: Subject) -> Column | None:
    """Return the category to predict: a sensitive one, of several values and many rows for each."""
    most = subject.rows // _ROWS_A_CLASS
    for column in (*subject.of_role(Role.SENSITIVE), *subject.of_role(Role.NEUTRAL, Role.QUASI)):
        is_category = column.original.numbers is None and column.released.numbers is None
        if not is_category or not column.released.known().any():
            continue
        if 2 <= len(np.unique(column.original.codes())) <= min(most, _MOST_CLASSES):
            return column
    return None


def _features(columns: list[Column], released: bool) -> FloatArray:
    parts = [_numbers(column.released if released else column.original) for column in columns]
    return np.stack(parts, axis=1)


def _numbers(values: Values) -> FloatArray:
    if values.numbers is not None:
        # A tree asks only what is larger: ranks tell as much, and none is too large for it.
        ranks = np.unique(values.numbers, return_inverse=True)[1]
        return np.where(values.known(), ranks, -1).astype(np.float64)
    return values.codes().astype(np.float64)
