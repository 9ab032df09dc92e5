"""A release as one SELECT over its source, its parameter row and its lookup tables.

The tree is neutral: no secret is in it, only references to the owner's tables. Treatments that
stand first in their chains make the first stage, those after THEN the next; each stage is a
SELECT over the one before, so that no expression is written twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import check_tree, column_of, named, select_of, table_of
from ppdm_sql.errors import Refused, TreatmentError
from ppdm_sql.language.syntax import FileSource, QuerySource, Role, Source
from ppdm_sql.names import Name
from ppdm_sql.parameters import parameter_column
from ppdm_sql.release.row_key import canonical_key
from ppdm_sql.release.stage_columns import (
    INPUT,
    ROW,
    inputs_of,
    row_key_of,
    source_values,
    stage_names,
)
from ppdm_sql.release.stage_scope import PARAMETERS, Stage, StageScope

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ppdm_sql.engine.targets import SqlTarget
    from ppdm_sql.release.model import BoundRule, Plan, Release, Step

KEYS = "keys"
"""Name under which a statistics query counts the distinct row keys, where they are used."""
KEYED_ROWS = "keyed rows"
"""Name under which it counts the rows that have one."""
ROWS = "rows"
"""Name under which a statistics query counts the rows of the source."""


def release_select(plan: Plan) -> exp.Select:
    """Return the SELECT of a whole release: what analysts read."""
    if plan.release.execution == "udf" and not plan.target.calls_kernels:
        raise Refused(
            f"{plan.target.name} cannot run Python functions: drop execution = 'udf'",
            code="unsupported_engine",
        )
    if plan.release.grouping is not None:
        return plan.release.grouping.select(plan)
    return rows_with(plan, {})


def rows_with(plan: Plan, carried: Mapping[str, exp.Expr]) -> exp.Select:
    """Return the treated columns of every row, and beside them values of the source's own.

    `carried` are trees over columns of the source; a placeholder in them is a parameter.
    """
    taken = {name for rule in plan.release.released_rules for name in rule.names}
    for name in carried:
        if Name(name) in taken:
            raise Refused(f"a column of a release may not be called '{name}'", code="reserved_name")
    return _select(plan, plan.release.depth, is_final=True, carried=carried)


def statistics_query(
    plan: Plan, stage: int, more: Mapping[str, exp.Expr] | None = None
) -> exp.Select | None:
    """Return one SELECT for all that the treatments of a stage want to know.

    None when nobody asks. The first stage asks for the number of rows, unless GENERALIZE counts
    them anyway. `more` are aggregates over the source that are asked for beside.
    """
    aggregates = _counts(plan.release, more or {}) if stage == 0 else {}
    key = row_key_of(plan.release, stage)
    for rule, step in plan.release.stage(stage):
        wanted = dict(step.treatment.statistics(inputs_of(rule, stage)))
        if step.treatment.traits.uses_row_key and key is not None:
            wanted |= step.treatment.row_statistics(inputs_of(rule, stage), key.copy())
        aggregates |= {parameter_column(step.slot, name): tree for name, tree in wanted.items()}
    if not aggregates:
        return None
    return select_of(named(tree, name) for name, tree in aggregates.items()).from_(
        _stage_source(plan, stage, {}), copy=False
    )


def counts_query(plan: Plan, more: Mapping[str, exp.Expr]) -> exp.Select | None:
    """Return what a first stage counts of the rows, without what treatments want to know."""
    aggregates = _counts(plan.release, more)
    if not aggregates:
        return None
    return exp.select(*(named(tree, name) for name, tree in aggregates.items())).from_(
        _stage_source(plan, 0, {})
    )


def _counts(release: Release, more: Mapping[str, exp.Expr]) -> dict[str, exp.Expr]:
    aggregates = dict(more)
    key = row_key_of(release, 0)
    if release.grouping is None or key is not None:
        aggregates[ROWS] = exp.Count(this=exp.Star())
    if key is not None:
        aggregates[KEYS] = exp.Count(this=exp.Distinct(expressions=[key]))
        aggregates[KEYED_ROWS] = exp.Count(this=key.copy())
    return aggregates


def checks_query(plan: Plan, stage: int) -> exp.Select | None:
    """Return one SELECT for what the treatments of a stage want to see of their results."""
    aggregates: dict[str, exp.Expr] = {}
    shown: list[exp.Expr] = []
    under = Stage(plan, row_key_of(plan.release, stage))
    for rule, step in plan.release.stage(stage):
        before = [f"{step.slot}_i{i}" for i in range(len(rule.columns))]
        after = [f"{step.slot}_o{i}" for i in range(len(rule.columns))]
        wanted = step.treatment.checks(
            [column_of(name, INPUT) for name in before],
            [column_of(name, INPUT) for name in after],
        )
        if wanted:
            inputs = inputs_of(rule, stage)
            outputs = _outputs(rule, step, stage, under)
            shown += [named(tree, name) for name, tree in zip(before, inputs, strict=True)]
            shown += [named(tree, name) for name, tree in zip(after, outputs, strict=True)]
            aggregates |= {parameter_column(step.slot, k): v for k, v in wanted.items()}
    if not aggregates:
        return None
    values = _from_stage(select_of(shown), under, stage, {})
    return select_of(named(tree, name) for name, tree in aggregates.items()).from_(
        _under(values), copy=False
    )


def _under(select: exp.Select) -> exp.Subquery:
    """Return a SELECT as it stands behind FROM of the next one."""
    return select.subquery(exp.to_identifier(INPUT, quoted=True), copy=False)


def source_table(source: Source, alias: str = INPUT) -> exp.Expr:
    """Return a source as it stands behind FROM."""
    if isinstance(source, QuerySource):
        # A Var is written as it is: the owner's own text.
        return exp.Subquery(
            this=exp.Var(this=source.text),
            alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)),
        )
    if isinstance(source, FileSource):
        return exp.table_(
            exp.to_identifier(source.path, quoted=True),
            alias=exp.to_identifier(alias, quoted=True),
        )
    return table_of(source.name, alias)


def _select(
    plan: Plan,
    stages: int,
    is_final: bool,
    carried: Mapping[str, exp.Expr],
) -> exp.Select:
    """Return the release after a number of stages."""
    last = stages - 1
    under = Stage(plan, row_key_of(plan.release, last))
    shown: list[exp.Expr] = []
    for rule in plan.release.released_rules:
        step = rule.steps[last] if last < len(rule.steps) else None
        outputs = _outputs(rule, step, last, under) if step else inputs_of(rule, last)
        names = [name.text for name in rule.names] if is_final else list(stage_names(rule))
        shown += [named(tree, name) for tree, name in zip(outputs, names, strict=True)]
    if not is_final and under.row_key is not None:
        shown.append(named(under.row_key, ROW))
    if not is_final:
        shown += source_values(plan.release, last)
    for name, tree in carried.items():
        value = _of_source(tree) if last == 0 else column_of(name, INPUT)
        shown.append(named(value, name))
    return _from_stage(select_of(shown), under, last, carried)


def _of_source(tree: exp.Expr) -> exp.Expr:
    """Return a carried tree with its columns and parameters where the first stage has them."""

    def placed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Placeholder):
            return column_of(node.name, PARAMETERS)
        return column_of(node.name, INPUT) if isinstance(node, exp.Column) else node

    return tree.copy().transform(placed)


def _from_stage(
    select: exp.Select, under: Stage, stage: int, carried: Mapping[str, exp.Expr]
) -> exp.Select:
    """Put a SELECT on the stage before it and join what its expressions refer to."""
    for tree in select.expressions:
        check_tree(tree, under.plan.target)
    source = _stage_source(under.plan, stage, carried)
    select = select.from_(_with_lets(source, under, stage, carried), copy=False)
    if _use_parameters((*select.expressions, *under.joins)):
        select = _join_parameters(select, under)
    for join in under.joins:
        check_tree(join, under.plan.target)
        select.append("joins", join)
    return select


def _with_lets(
    source: exp.Expr, under: Stage, stage: int, carried: Mapping[str, exp.Expr]
) -> exp.Expr:
    """Return a source with what the treatments want computed once beside its own columns.

    What refers to something computed before stands in a SELECT over it.
    """
    release = under.plan.release
    known = [column.name for rule in release.released_rules for column in inputs_of(rule, stage)]
    known += _handed_on(release, stage, carried)
    for layer in _layers(under.lets):
        shown = [named(column_of(name, INPUT), name) for name in dict.fromkeys(known)]
        taken = set(map(Name, known))
        for name, value in layer.items():
            check_tree(value, under.plan.target)
            if Name(name) in taken:
                raise Refused(
                    f"a column of the source may not be called '{name}'", code="reserved_name"
                )
            shown.append(named(value.copy(), name))
        inner = select_of(shown).from_(source, copy=False)
        if _use_parameters(layer.values()):
            inner = _join_parameters(inner, under)
        source = _under(inner)
        known += layer
    return source


def _layers(lets: Mapping[str, exp.Expr]) -> list[dict[str, exp.Expr]]:
    """Put what refers to an earlier value one layer above it."""
    layers: list[dict[str, exp.Expr]] = []
    layer_of: dict[str, int] = {}
    for name, value in lets.items():
        below = (layer_of.get(column.name, -1) for column in value.find_all(exp.Column))
        layer_of[name] = max(below, default=-1) + 1
        if layer_of[name] == len(layers):
            layers.append({})
        layers[layer_of[name]][name] = value
    return layers


def _use_parameters(trees: Iterable[exp.Expr]) -> bool:
    return any(column.table == PARAMETERS for tree in trees for column in tree.find_all(exp.Column))


def _join_parameters(select: exp.Select, under: Stage) -> exp.Select:
    return select.join(
        table_of(under.plan.storage.parameter_table(), PARAMETERS), join_type="cross", copy=False
    )


def _handed_on(release: Release, stage: int, carried: Mapping[str, exp.Expr]) -> list[str]:
    """Return the columns a stage needs beside those it treats: the row key, what is carried."""
    if stage == 0:
        key = [release.row_key.name.text] if release.row_key is not None else []
        trees = (tree for value in carried.values() for tree in value.find_all(exp.Column))
        return [*key, *(tree.name for tree in trees)]
    values = (tree.alias for tree in source_values(release, stage - 1))
    return [*([ROW] if release.row_key is not None else []), *values, *carried]


def _stage_source(plan: Plan, stage: int, carried: Mapping[str, exp.Expr]) -> exp.Expr:
    if stage == 0:
        return _source(plan.release, plan.target, carried)
    return _under(_select(plan, stage, is_final=False, carried=carried))


def _source(release: Release, target: SqlTarget, carried: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return the source; under an agreement with its KEY as the sites share it."""
    table = source_table(release.source)
    if release.agreement is None:
        return table
    keys = {rule.columns[0].name for rule in release.rules if rule.role is Role.KEY}
    used = [column for rule in release.released_rules for column in rule.columns]
    used += [release.row_key] if release.row_key is not None else []
    names = [column.name for column in used]
    names += [
        Name(column.name) for tree in carried.values() for column in tree.find_all(exp.Column)
    ]
    shown: dict[Name, exp.Expr] = {}
    for name in dict.fromkeys(names):
        value: exp.Expr = column_of(name.text, INPUT)
        shown[name] = named(canonical_key(value) if name in keys else value, name.text)
        check_tree(shown[name], target)
    inner = exp.select(*shown.values()).from_(table)
    return inner.subquery(exp.to_identifier(INPUT, quoted=True))


def _outputs(rule: BoundRule, step: Step, stage: int, under: Stage) -> tuple[exp.Expr, ...]:
    scope = StageScope(under, step.slot, rule, stage)
    inputs = inputs_of(rule, stage)
    treatment = step.treatment
    if under.plan.release.execution == "udf":
        outputs = treatment.kernel_expr(inputs, scope)
    else:
        outputs = treatment.to_expr(inputs, scope)
    if not isinstance(outputs, tuple) or len(outputs) != len(rule.columns):
        raise TreatmentError(
            f"{treatment.keyword}: to_expr must return a tuple of one expression for each column",
            hint="write return (expression,)",
            code="wrong_treatment",
        )
    return outputs
