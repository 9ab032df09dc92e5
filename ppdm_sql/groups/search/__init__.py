"""Group anonymity on integer-coded arrays: measuring partitions and searching for good ones.

    problem      Axis, Sensitive, Problem: rows as numbered, distinct combinations
    targets      k, l, t and alpha
    measures     what any partition reaches
    losses       what a node costs
    search       the best node of the lattice, with proof
    minimal      every node that is allowed while none below it is
    mondrian     local recoding: ranges and groups of their own for each class

The room knows no engine, no names and no values, only their numbers.
"""

from ppdm_sql.groups.search.cuts import Groups, Ranges
from ppdm_sql.groups.search.losses import Loss, ilm, precision
from ppdm_sql.groups.search.measures import Measures, SensitiveMeasures, measure, reached
from ppdm_sql.groups.search.minimal import MinimalNodes, Node, list_minimal
from ppdm_sql.groups.search.mondrian import Partition, mondrian
from ppdm_sql.groups.search.problem import (
    Axis,
    BoolArray,
    FloatArray,
    IntArray,
    Problem,
    Sensitive,
)
from ppdm_sql.groups.search.search import SearchResult, search_optimal
from ppdm_sql.groups.search.targets import (
    Alpha,
    Closeness,
    DistinctL,
    EntropyL,
    K,
    Population,
    Proximity,
    RareSpread,
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
    "Groups",
    "IntArray",
    "K",
    "Loss",
    "Measures",
    "MinimalNodes",
    "Node",
    "Partition",
    "Population",
    "Problem",
    "Proximity",
    "Ranges",
    "RareSpread",
    "RecursiveL",
    "SearchResult",
    "Sensitive",
    "SensitiveMeasures",
    "Target",
    "ilm",
    "list_minimal",
    "measure",
    "mondrian",
    "precision",
    "reached",
    "search_optimal",
]
