"""Group anonymity on integer-coded arrays: measuring partitions and searching for good ones.

    problem      Axis, Sensitive, Problem: rows as numbered, distinct combinations
    targets      k, l, t and alpha
    measures     what any partition reaches
    losses       what a node costs
    search       the best node of the lattice, with proof

The room knows no engine, no names and no values, only their numbers.
"""

from ppdm_sql.anonymity.losses import Loss, ilm, precision
from ppdm_sql.anonymity.measures import Measures, SensitiveMeasures, measure, reached
from ppdm_sql.anonymity.problem import (
    Axis,
    BoolArray,
    FloatArray,
    IntArray,
    Problem,
    Sensitive,
)
from ppdm_sql.anonymity.search import Outcome, search_optimal
from ppdm_sql.anonymity.targets import (
    Alpha,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    RecursiveL,
    Target,
)

__all__ = [
    "Alpha",
    "Axis",
    "BoolArray",
    "Closeness",
    "DistinctL",
    "EntropyL",
    "FloatArray",
    "IntArray",
    "K",
    "Loss",
    "Measures",
    "Outcome",
    "Problem",
    "RecursiveL",
    "Sensitive",
    "SensitiveMeasures",
    "Target",
    "ilm",
    "measure",
    "precision",
    "reached",
    "search_optimal",
]
