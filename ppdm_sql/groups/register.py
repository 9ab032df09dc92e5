"""A register of everybody, for k_map: who else a class of the release could be about.

It is read when the release is made or refreshed. What its people would be released as is kept in
the owner's store, counted, so that what is published can be held against it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.engine.sql import column_of, data_type, named, table_of
from ppdm_sql.errors import BindError, EngineError, InternalError, suggest
from ppdm_sql.groups.compile import (
    COMBINATIONS,
    COUNT,
    IS_SUPPRESSED,
    REGISTER,
    ROWS,
    SLOT,
    TABLE,
    alike,
    fixed_column,
    fixed_quasi,
    grouping_of,
    key_column,
    label_column,
    subquery,
)
from ppdm_sql.groups.hierarchy_kinds import Listed
from ppdm_sql.groups.queries import text_column
from ppdm_sql.groups.search.cells import Register
from ppdm_sql.names import OWNER_SCHEMA
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from ppdm_sql.groups.search.cells import Coded
    from ppdm_sql.groups.search.recoding import Recoding
    from ppdm_sql.language.syntax import CreateRelease
    from ppdm_sql.release.model import Plan
    from ppdm_sql.release.sources import Sources
    from ppdm_sql.release.version import Version

_EVERYBODY, _CLASSES, _KNOWN = "e", "k", "n"


def with_register(statement: CreateRelease, sources: Sources) -> CreateRelease:
    """Return a statement with the full name of the register that k_map names."""
    clause = statement.generalize
    if clause is None:
        return statement
    targets = []
    for target in clause.targets:
        if target.against is not None:
            found = sources.resolve(target.against)
            if found is None or found.name.schema == OWNER_SCHEMA or found.is_temporary:
                raise BindError(
                    f"there is no table or view '{target.against}' that stays",
                    target.span,
                    suggest(str(target.against), sources.relation_names(), "tables and views"),
                    code="unknown_table",
                )
            target = replace(target, against=found.name)
        targets.append(target)
    return replace(statement, generalize=replace(clause, targets=tuple(targets)))


def read_register(version: Version) -> pa.Table:
    """Return the people of the register as cells: combinations, counted."""
    grouping = grouping_of(version)
    if grouping.register is None:
        raise InternalError("there is no register")
    columns = {
        key_column(at): (column.column.name, column.column.type)
        for at, column in enumerate(grouping.columns)
    }
    columns |= {fixed_column(at): column for at, column in enumerate(fixed_quasi(version.release))}
    # Written as the release's own columns are; what cannot be is nobody whom it could be about.
    written = {
        name: exp.TryCast(
            this=column_of(of.text, ROWS),
            to=data_type("VARCHAR" if type_.kind is Kind.ENUM else type_.text),
        )
        for name, (of, type_) in columns.items()
    }
    parts = {name: alike(tree, columns[name][1]) for name, tree in written.items()}
    fits = [
        exp.or_(
            column_of(columns[name][0].text, ROWS).is_(exp.null()),
            tree.copy().is_(exp.null()).not_(),
        )
        for name, tree in written.items()
    ]
    shown = [named(tree, name) for name, tree in parts.items()]
    cells = exp.select(*shown, named(exp.Count(this=exp.Star()), COUNT))
    cells = cells.from_(table_of(grouping.register, ROWS)).where(exp.and_(*fits))
    cells = cells.group_by(*(tree.copy() for tree in parts.values()))
    texts = [
        named(exp.cast(column_of(key_column(at), _EVERYBODY), "VARCHAR"), text_column(at))
        for at in range(len(grouping.columns))
    ]
    try:
        found = version.engine.query(
            exp.select(exp.Star(), *texts).from_(subquery(cells, _EVERYBODY))
        ).combine_chunks()
    except EngineError as error:
        listed = " and ".join(f"'{of}'" for of, _ in columns.values())
        raise BindError(
            f"the register cannot be read: {error.what}",
            grouping.span,
            f"it has columns with the names of the QUASI columns: {listed}",
            code="unknown_column",
        ) from None
    return found.filter(pa.array(_are_known(version, found)))


def _are_known(version: Version, cells: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell whose values the hierarchies know: others are in no group of them."""
    known = np.ones(cells.num_rows, dtype=np.bool_)
    for at, column in enumerate(grouping_of(version).columns):
        if isinstance(column.hierarchy.shape, Listed):
            texts = _column(cells, text_column(at))
            listed = pc.is_in(texts, value_set=column.hierarchy.shape.levels[0])
            known &= np.asarray(pc.or_(listed, pc.is_null(texts)))
    return known


def cells_of(version: Version, register: pa.Table) -> Register:
    """Return the cells of a register as the search takes them."""
    generalized = range(len(grouping_of(version).columns))
    return Register(
        [_column(register, key_column(at)) for at in generalized],
        [_column(register, text_column(at)) for at in generalized],
        [_column(register, fixed_column(at)) for at in range(len(fixed_quasi(version.release)))],
        np.asarray(_column(register, COUNT), dtype=np.int64),
    )


def write_register(version: Version, cells: pa.Table, coded: Coded, recoding: Recoding) -> None:
    """Write what everybody would be released as."""
    population = coded.problem.population
    assert population is not None
    fixed = [fixed_column(at) for at in range(len(fixed_quasi(version.release)))]
    first = pa.array(coded.first)
    columns = {name: cells.column(name).take(first) for name in fixed}
    columns |= {label_column(at): label for at, label in enumerate(recoding.labels)}
    table = pa.table(columns | {COUNT: pa.array(population)})
    names = [name for name in table.column_names if name != COUNT]
    table = table.group_by(names).aggregate([(COUNT, "sum")])
    table = table.rename_columns([*names, COUNT])
    version.engine.create_table(version.storage.lookup_table(SLOT, REGISTER), table)


def fewest_query(plan: Plan) -> exp.Select:
    """Return how many persons of the register the smallest class of the release fits."""
    table = table_of(plan.storage.lookup_table(SLOT, COMBINATIONS), TABLE)
    names = _class_columns(plan)
    classes = exp.select(*(named(column_of(name, TABLE), name) for name in names)).distinct()
    classes = classes.from_(table).where(exp.Not(this=column_of(IS_SUPPRESSED, TABLE)))
    return fewest_among(plan, classes)


def fewest_among(plan: Plan, classes: exp.Select) -> exp.Select:
    """Return the fewest persons of the register whom one of these classes fits."""
    register = table_of(plan.storage.lookup_table(SLOT, REGISTER), _EVERYBODY)
    known = exp.Coalesce(this=column_of(COUNT, _EVERYBODY), expressions=[exp.Literal.number(0)])
    alike_ = [
        exp.NullSafeEQ(this=column_of(name, _CLASSES), expression=column_of(name, _EVERYBODY))
        for name in _class_columns(plan)
    ]
    found = exp.select(named(exp.Min(this=known), COUNT)).from_(subquery(classes, _CLASSES))
    return found.join(register, on=exp.and_(*alike_), join_type="left")


def _class_columns(plan: Plan) -> list[str]:
    names = [label_column(at) for at in range(len(grouping_of(plan).columns))]
    return names + [fixed_column(at) for at in range(len(fixed_quasi(plan.release)))]


def _column(table: pa.Table, name: str) -> pa.Array:
    return table.column(name).combine_chunks()
