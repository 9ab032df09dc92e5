"""Documents 000 and 001: mining on Adult, original beside released, as a page of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments import mining
from experiments.adult import Adult, load

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = """\
# Mining on original and released data

Written by `make experiments` on UCI Adult ({rows:,} rows; age, workclass, education, marital status,
occupation, relationship, race, sex, country), as documents 000 and 001 do: age by
`graded_grouping(bands => [15, 30, 45, 60, 75, 90])`, education by `mapping()`, the class is
education, the other columns as they are. scikit-learn and mlxtend, the same seed and folds on both.

## Equal, and tested as equal

| | original | released | rows or rules that differ |
|---|---|---|---|
"""
MIDDLE = """
Rules are compared one by one after `INTERPRET RELEASE`, with their support and confidence; before
it, {before:,} of the {rules:,} are the same, those that speak of neither age nor education.

## Not equal, and why

| | original | released | rows that differ |
|---|---|---|---|
"""
TAIL = """
- **Rows a tree has not seen**: a threshold is the midpoint between two values. A row that was not
  among those the tree was grown on can lie on it exactly, and in graded terms the last bit then
  decides. {explained:,} of the {held:,} rows are such.
- **Classes in the order of their names**: aliases sort differently than names, and where two
  classes are equally frequent in a leaf scikit-learn takes the first. Give it codes in the order
  in which classes appear. The number changes with every release, because aliases are random.
- **`var_smoothing`**: scikit-learn adds a share of the largest variance to all of them, and age in
  years has another variance than age in bands. `var_smoothing=0` and one model for each kind of
  column, as above, are equal.
- **The error of k-means**: the last band's end is released as 5.999, so age between 0 and 1 is
  stretched by 0.02 %. The partition is the same, the error is not.
"""


def page() -> str:
    """Return the page, computed anew."""
    return report(load())


def report(adult: Adult) -> str:
    """Return the page."""
    original, released = adult.original, adult.released
    count = len(original)
    truth = mining.first_seen(original)
    zero = [mining.zero_rule(frame) for frame in (original, released)]
    grown = [mining.tree_on_training_rows(frame) for frame in (original, released)]
    bayes = [mining.naive_bayes(frame) for frame in (original, released)]
    (parts, error), (released_parts, released_error) = map(mining.clusters, (original, released))
    found = mining.rules(original)
    mined = mining.rules(released)
    back = adult.owner.interpret_table("research.adult", mined).df()
    ours = mining.as_set(found)
    held = [
        mining.tree_on_held_out_rows(frame, mining.first_seen(frame))
        for frame in (original, released)
    ]
    explained = int((mining.rows_on_a_threshold(original) & (held[0] != held[1])).sum())
    named = by_name(adult)
    stock = [mining.stock_naive_bayes(frame) for frame in (original, released)]

    def row(name: str, pair: Sequence[str], different: int) -> str:
        return f"| {name} | {pair[0]} | {pair[1]} | {different:,} |\n"

    def right(pair: Sequence[mining.Codes]) -> list[str]:
        return [f"{(codes == truth).mean():.4%}" for codes in pair]

    def differ(pair: Sequence[mining.Codes]) -> int:
        return int((pair[0] != pair[1]).sum())

    return (
        HEAD.format(rows=count)
        + row("zero rule", [f"{n:,} ({n / count:.4%})" for n in zero], abs(zero[0] - zero[1]))
        + row("decision tree, training rows", right(grown), differ(grown))
        + row("naive Bayes, Gaussian age", right(bayes), differ(bayes))
        + row(
            "association rules",
            [f"{len(found):,}", f"{len(mined):,}"],
            len(ours ^ mining.as_set(back)),
        )
        + row(
            f"k-means, {mining.CLUSTERS} clusters",
            [str(np.bincount(labels).tolist()) for labels in (parts, released_parts)],
            differ((parts, released_parts)),
        )
        + MIDDLE.format(before=len(ours & mining.as_set(mined)), rules=len(found))
        + row(f"decision tree, {mining.FOLDS} folds", right(held), differ(held))
        + row("the same, classes by name", right(named), differ(named))
        + row("GaussianNB as it comes", right(stock), differ(stock))
        + row("error of k-means", [f"{error:,.2f}", f"{released_error:,.2f}"], 0)
        + TAIL.format(explained=explained, held=differ(held))
    )


def by_name(adult: Adult) -> list[mining.Codes]:
    """Return held-out classes of trees with codes by name, both in the order of appearance."""
    done = []
    for frame in (adult.original, adult.released):
        codes, names = mining.by_name(frame)
        found = mining.tree_on_held_out_rows(frame, codes)
        order = {names.index(str(name)): at for at, name in enumerate(frame["education"].unique())}
        done.append(np.vectorize(order.__getitem__)(found))
    return done
