"""The targets of what goes out, counted by plain SQL that shares nothing with the search.

Whoever chose the classes also measures them. This is the second pair of eyes: it looks at the rows
as they will be written. Only t over a hierarchy, and t over numbers of very many different values,
are left to the measures of the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.errors import InternalError, Refused
from ppdm_sql.groups.compile import (
    HIGH,
    SIZES,
    SLOT,
    alike,
    chosen_parameter,
    find_grouping,
    fixed_column,
    fixed_quasi,
    label_column,
)
from ppdm_sql.groups.queries import comparable, distinguishable
from ppdm_sql.groups.register import fewest_among
from ppdm_sql.parameters import parameter_column
from ppdm_sql.publish.snapshot import PERSON, ROWS, STAR, sensitive_column
from ppdm_sql.release.compile import source_table
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.types import ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.groups.compile import BoundTarget, Grouping
    from ppdm_sql.publish.snapshot import Snapshot

_CLASS, _PERSON, _VALUE = "c", "p", "v"
_SHOWN, _WHOLE, _CHOSEN, _MISSED_CLASSES = "shown", "whole", "chosen", "missed"
_PARAMETERS = "parameters"
_ORDERED = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP})
_COUNTED = ("k", "l", "k_map")
_MOST_CELLS = 20_000_000
"""Classes times values that are compared one by one."""


def _parsed(text: str) -> exp.Select:
    tree = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    return tree


# `shown` has a row for each pair of a person and a value in a class, `whole` of the source; without
# a KEY, a row for each row.
_TEXTS = {
    "persons": "SELECT c, count(DISTINCT p) + bool_or(p IS NULL)::INT AS n FROM shown GROUP BY c",
    "shares": "SELECT c, v, count(*) AS n FROM shown GROUP BY c, v",
    "close": """
        SELECT h.c, h.v, h.n::DOUBLE / sum(h.n) OVER (PARTITION BY h.c) AS p
        FROM (SELECT c, v, count(*) AS n FROM shown GROUP BY c, v) AS h""",
    "reference": """
        SELECT v, count(*)::DOUBLE / sum(count(*)) OVER () AS q,
            row_number() OVER (ORDER BY v ASC NULLS FIRST) AS r
        FROM whole GROUP BY v""",
}
_SHARES_OF_CHOSEN = (
    "SELECT c, v, count(*) AS n FROM shown WHERE v IN (SELECT v FROM chosen) GROUP BY c, v"
)
_OF_WHOLE = ("reference", "whole_spread")
_MISSED = {
    "entropy_l": _parsed("""
        SELECT count(*) AS n FROM (
            SELECT c FROM close GROUP BY c HAVING -sum(p * ln(p)) < ln(:value) - 1e-9) AS missed"""),
    "recursive_l": _parsed("""
        SELECT count(*) AS n FROM (
            SELECT c FROM (
                SELECT c, n, row_number() OVER (PARTITION BY c ORDER BY n DESC) AS r FROM shares
            ) AS s
            GROUP BY c
            HAVING max(n) >= :number * coalesce(sum(n) FILTER (WHERE r >= :value), 0) * (1 - 1e-12)
        ) AS missed"""),
    "alpha": _parsed("""
        SELECT count(*) AS n FROM (
            SELECT s.c FROM (SELECT c, max(n) AS most FROM shares GROUP BY c) AS s
            JOIN persons AS m ON s.c = m.c WHERE most > (:value + 1e-9) * m.n) AS missed"""),
    "proximity": _parsed("""
        SELECT count(*) AS n FROM (
            SELECT s.c FROM (SELECT c, max(near) AS most FROM (
                SELECT c, count(*) OVER (PARTITION BY c ORDER BY v::DOUBLE
                    RANGE BETWEEN :number PRECEDING AND :number FOLLOWING) AS near FROM shown
            ) AS w GROUP BY c) AS s
            JOIN persons AS m ON s.c = m.c WHERE most * :value > m.n) AS missed"""),
}
_FEW_OF = _parsed("""
    SELECT count(*) AS n FROM (
        SELECT s.c FROM (
            SELECT shares.c, count(*) AS n FROM shares
            JOIN reference ON shares.v IS NOT DISTINCT FROM reference.v
            GROUP BY shares.c HAVING bool_or(q < :q)) AS s
        JOIN spread ON s.c = spread.c
        WHERE s.n < :p OR spread.spread IS NULL
            OR spread.spread < :r * (SELECT spread FROM whole_spread) * (1 - 1e-9)) AS missed""")
_OF_NUMBERS = {
    "spread": "SELECT c, var_pop(v::DOUBLE) AS spread FROM shown GROUP BY c",
    "whole_spread": "SELECT var_pop(v::DOUBLE) AS spread FROM whole",
}
_OF_CATEGORIES = {
    "spread": "SELECT c, 1 - sum(p * p) AS spread FROM close GROUP BY c",
    "whole_spread": "SELECT 1 - sum(q * q) AS spread FROM reference",
}
_EQUAL = _parsed("""
    SELECT count(*) AS n FROM (
        SELECT c FROM close LEFT JOIN reference ON close.v IS NOT DISTINCT FROM reference.v
        GROUP BY c HAVING sum(greatest(p - coalesce(q, 0), 0)) > :value + 1e-9) AS missed""")
_ORDERED_T = _parsed("""
    SELECT count(*) AS n FROM (
        SELECT c FROM (
            SELECT g.c,
                sum(coalesce(close.p, 0) - g.q) OVER (PARTITION BY g.c ORDER BY g.r ASC) AS off
            FROM (SELECT * FROM (SELECT DISTINCT c FROM close) AS s CROSS JOIN reference) AS g
            LEFT JOIN close ON close.c = g.c AND close.v IS NOT DISTINCT FROM g.v) AS d
        GROUP BY c
        HAVING sum(abs(off))::DOUBLE / greatest((SELECT count(*) FROM reference) - 1, 1) > :value + 1e-9
    ) AS missed""")
_CELLS = _parsed("""
    SELECT (SELECT count(DISTINCT c) FROM shown) * (SELECT count(*) FROM reference) AS n""")


def check_targets(snapshot: Snapshot) -> None:
    """Raise unless every class of what goes out reaches every target."""
    grouping = find_grouping(snapshot.version.release)
    if grouping is None:
        return
    if grouping.k_map:
        fewest = snapshot.version.engine.query(_register(snapshot, grouping)).column("n")[0].as_py()
        if fewest is not None and fewest < grouping.k_map:
            raise _missed_targets(grouping)
    queries: list[exp.Expr | None] = [_counted(snapshot, grouping)]
    queries += [_missed(snapshot, grouping, target) for target in grouping.targets]
    for query in queries:
        if query is not None and _number(snapshot, query):
            raise _missed_targets(grouping)


def _missed_targets(grouping: Grouping) -> Refused:
    return Refused(
        "what would be published does not reach its targets",
        grouping.span,
        "write REFRESH RELEASE if rows were deleted or changed since",
        code="target_missed",
    )


def _register(snapshot: Snapshot, grouping: Grouping) -> exp.Select:
    """Return the fewest persons of the register who would be released as one of the classes."""
    names = [label_column(at) for at in range(len(grouping.columns))]
    names += [fixed_column(at) for at in range(len(fixed_quasi(snapshot.version.release)))]
    shown = zip(_quasi(snapshot, grouping), names, strict=True)
    classes = exp.select(*(named(tree, name) for tree, name in shown)).distinct()
    classes = _treated(classes.from_(snapshot.rows()), grouping)
    return fewest_among(snapshot.version, classes)


def missed_persons(snapshot: Snapshot) -> Iterator[exp.Select]:
    """Return the persons in classes that miss a target, one SELECT a kind of target."""
    grouping = find_grouping(snapshot.version.release)
    if grouping is None or grouping.person is None:
        return
    small = _small_classes(snapshot, grouping)
    if small is not None:
        quasi = _quasi(snapshot, grouping)
        alike = (
            exp.NullSafeEQ(this=tree, expression=column_of(f"q{at}", _MISSED_CLASSES))
            for at, tree in enumerate(quasi)
        )
        missed = small.select(*(named(tree.copy(), f"q{at}") for at, tree in enumerate(quasi)))
        rows = exp.select(named(column_of(PERSON, ROWS), PERSON)).from_(snapshot.rows())
        rows = _treated(rows, grouping)
        yield rows.join(_as(missed, _MISSED_CLASSES), on=exp.and_(*alike))
    for target in grouping.targets:
        query = _missed(snapshot, grouping, target)
        if query is not None:
            missed = query.args["from_"].this
            query.set("expressions", [named(column_of(_PERSON, _SHOWN), PERSON)])
            query.from_(exp.to_table(_SHOWN), copy=False)
            is_one = exp.EQ(
                this=column_of(_CLASS, _SHOWN), expression=column_of(_CLASS, missed.alias)
            )
            yield query.join(missed, on=is_one)


def _as(select: exp.Select, alias: str) -> exp.Subquery:
    return select.subquery(exp.to_identifier(alias, quoted=True))


def _counted(snapshot: Snapshot, grouping: Grouping) -> exp.Select | None:
    """Return how many classes have too few persons or too few values; all in one pass."""
    classes = _small_classes(snapshot, grouping)
    if classes is None:
        return None
    classes = classes.select(named(exp.Literal.number(1), "one"))
    count = named(exp.Count(this=exp.Star()), "n")
    return exp.select(count).from_(_as(classes, _MISSED_CLASSES))


def _small_classes(snapshot: Snapshot, grouping: Grouping) -> exp.Select | None:
    """Return the classes that have too few persons or values; None where no target asks."""
    missed: list[exp.Expr] = []
    for target in grouping.targets:
        limit = exp.Literal.number(str(target.clause.value))
        if target.clause.word in SIZES:
            persons = exp.Count(this=exp.Star()) if grouping.person is None else _distinct(PERSON)
            missed.append(exp.LT(this=persons, expression=limit))
        elif target.clause.word == "l":
            values = _distinct(sensitive_column(_place(grouping, target)))
            missed.append(exp.LT(this=values, expression=limit))
    if not missed:
        return None
    classes = _treated(exp.select().from_(snapshot.rows()), grouping)
    return classes.group_by(*_quasi(snapshot, grouping)).having(exp.or_(*missed))


def _missed(snapshot: Snapshot, grouping: Grouping, target: BoundTarget) -> exp.Select | None:
    """Return how many classes miss a target about distributions; None of any other."""
    word, column = target.clause.word, target.column
    if word in _COUNTED or (word == "t" and target.hierarchy is not None):
        return None
    if column is None or word not in (*_MISSED, "t", "kpqr"):
        raise InternalError(f"{word} cannot be checked in what is published")
    tables = {_SHOWN: _shown(snapshot, grouping, _place(grouping, target))}
    numbers = target.clause.numbers
    tree: exp.Select = _MISSED.get(word, _EQUAL)
    texts = dict(_TEXTS)
    values: dict[str, object] = {"value": target.clause.value, "number": next(iter(numbers), None)}
    if target.clause.values:
        tables[_CHOSEN] = _chosen(snapshot, grouping, target)
        texts["shares"] = _SHARES_OF_CHOSEN
    if word == "kpqr":
        tables[_WHOLE] = _whole(snapshot, grouping, target)
        tree = _FEW_OF
        texts |= _OF_NUMBERS if column.type.kind in NUMBERS else _OF_CATEGORIES
        values = dict(zip("pqr", numbers, strict=True))
    if word == "t":
        tables[_WHOLE] = _whole(snapshot, grouping, target)
        if column.type.kind in _ORDERED:
            tree = _ORDERED_T
            if _number(snapshot, _with(_CELLS, tables, texts)) > _MOST_CELLS:
                return None
    query = exp.replace_placeholders(_with(tree, tables, texts), **values)
    assert isinstance(query, exp.Select)
    return query


def _place(grouping: Grouping, target: BoundTarget) -> int:
    assert target.column is not None
    return [column.name for column in grouping.sensitive].index(target.column.name)


def _with(
    query: exp.Select, tables: Mapping[str, exp.Select], texts: Mapping[str, str]
) -> exp.Select:
    """Put what a query reads before it."""
    found = query.copy()
    for name, rows in tables.items():
        found = found.with_(name, as_=rows, copy=False)
    for name, text in texts.items():
        if name not in _OF_WHOLE or _WHOLE in tables:
            found = found.with_(name, as_=_parsed(text), copy=False)
    return found


def _chosen(snapshot: Snapshot, grouping: Grouping, target: BoundTarget) -> exp.Select:
    """Return the values that a target names: from the parameters, so that no SQL shows them."""
    assert target.column is not None
    at = grouping.targets.index(target)
    columns = [
        column_of(parameter_column(SLOT, chosen_parameter(at, index)), _PARAMETERS)
        for index in range(len(target.clause.values))
    ]
    # As texts: a list has one type, and numbers are written as the owner wrote them.
    texts = exp.Array(expressions=[exp.cast(column, "VARCHAR") for column in columns])
    value = exp.cast(exp.func("UNNEST", texts), comparable(target.column.type))
    table = table_of(snapshot.version.storage.parameter_table(), _PARAMETERS)
    return exp.select(named(value, _VALUE)).from_(table)


def _shown(snapshot: Snapshot, grouping: Grouping, sensitive: int) -> exp.Select:
    """Return the classes of what goes out, with the person and the value of each row."""
    order = exp.Order(expressions=[exp.Ordered(this=q) for q in _quasi(snapshot, grouping)])
    shown: dict[str, exp.Expr] = {
        _CLASS: exp.Window(this=exp.DenseRank(), order=order),
        **_person(grouping, PERSON),
        _VALUE: column_of(sensitive_column(sensitive), ROWS),
    }
    rows = exp.select(*(named(tree, name) for name, tree in shown.items()))
    rows = _treated(rows.from_(snapshot.rows()), grouping)
    return rows.distinct() if grouping.person is not None else rows


def _quasi(snapshot: Snapshot, grouping: Grouping) -> list[exp.Expr]:
    """Return what classes are of; texts letter by letter, whatever collation the owner has set."""
    text = ColumnType("VARCHAR")
    columns = [(column.name, text) for column in grouping.columns]
    columns += fixed_quasi(snapshot.version.release)
    return [alike(column_of(name.text, ROWS), type_) for name, type_ in columns]


def _treated(rows: exp.Select, grouping: Grouping) -> exp.Select:
    """Leave out what is promised nothing: records kept as `*`, and rows outside WHEN."""
    rows = rows.where(exp.Not(this=column_of(STAR, ROWS)))
    return rows if grouping.when is None else rows.where(column_of(HIGH, ROWS))


def _distinct(column: str) -> exp.Expr:
    """Return how many different values there are; NULL is one of them."""
    value = column_of(column, ROWS)
    missing = exp.func("BOOL_OR", exp.Is(this=value.copy(), expression=exp.null()))
    return exp.Add(
        this=exp.Count(this=exp.Distinct(expressions=[value])), expression=exp.cast(missing, "INT")
    )


def _whole(snapshot: Snapshot, grouping: Grouping, target: BoundTarget) -> exp.Select:
    """Return the persons and values of the whole source."""
    assert target.column is not None
    value = distinguishable(column_of(target.column.name.text, ROWS), target.column.type)
    key = None if grouping.person is None else grouping.person.name.text
    shown = {**_person(grouping, key), _VALUE: value}
    rows = exp.select(*(named(tree, name) for name, tree in shown.items()))
    rows = rows.from_(source_table(snapshot.version.release.source, ROWS))
    return rows.distinct() if grouping.person is not None else rows


def _person(grouping: Grouping, column: str | None) -> dict[str, exp.Expr]:
    """Return who a row is about; without a KEY, each is about somebody else."""
    if grouping.person is None or column is None:
        return {_PERSON: exp.Window(this=exp.RowNumber())}
    return {_PERSON: column_of(column, ROWS)}


def _number(snapshot: Snapshot, query: exp.Expr) -> int:
    return int(snapshot.version.engine.query(query).column("n")[0].as_py())
