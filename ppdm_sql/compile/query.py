"""A release as one SELECT over its source, its parameter row and its lookup tables.

The tree is neutral: no secret is in it, only references to the owner's tables. Treatments that
stand first in their chains make the first stage, those after THEN the next; each stage is a
SELECT over the one before, so that no expression is written twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from ppdm_sql.compile.render import check_tree, table_of
from ppdm_sql.errors import InternalError, Refused
from ppdm_sql.model.syntax import FileSource, QuerySource, Source
from ppdm_sql.model.transform import Checks, HasKernel, Measures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.compile.targets import Target
    from ppdm_sql.model.release import BoundRule, Release, Step
    from ppdm_sql.names import QualifiedName

_INPUT, _PARAMETERS, _LOOKUP = "s", "p", "m"
ROWS = "rows"
"""Name under which a statistics query counts the rows of the source."""


class Storage(Protocol):
    """Where a version of a release keeps its parameters and tables."""

    def parameter_table(self) -> QualifiedName:
        """Return the name of the one-row table of parameters."""
        ...

    def lookup_table(self, slot: str, table: str) -> QualifiedName:
        """Return the name of one of a treatment's tables."""
        ...


def parameter_column(slot: str, name: str) -> str:
    """Return the column of the parameter row that holds one parameter."""
    return f"{slot}_{name}"


@dataclass
class _Stage:
    """One SELECT in the making: its joins grow as treatments refer to what was drawn."""

    storage: Storage
    uses_parameters: bool = False
    lookups: list[tuple[exp.Table, exp.Expr]] = field(default_factory=list)


@dataclass(frozen=True)
class _Scope:
    """What one treatment sees of its stage."""

    stage: _Stage
    slot: str

    def parameter(self, name: str) -> exp.Expr:
        self.stage.uses_parameters = True
        return _column(parameter_column(self.slot, name), _PARAMETERS)

    def lookup(self, table: str, key: exp.Expr) -> exp.Expr:
        alias = f"{_LOOKUP}{len(self.stage.lookups)}"
        name = self.stage.storage.lookup_table(self.slot, table)
        on = exp.EQ(this=key, expression=_column("original", alias))
        self.stage.lookups.append((table_of(name, alias), on))
        return _column("released", alias)


def compile_release(release: Release, storage: Storage, target: Target) -> exp.Select:
    """Return the SELECT of a whole release."""
    if release.execution == "udf" and not target.calls_kernels:
        raise Refused(f"{target.name} cannot run Python functions: drop execution = 'udf'")
    return _select(release, storage, target, release.depth, is_final=True)


def statistics_query(
    release: Release, storage: Storage, target: Target, stage: int
) -> exp.Select | None:
    """Return one SELECT for all that the treatments of a stage want to know.

    None when nobody asks; the first stage always asks, for the number of rows.
    """
    aggregates: dict[str, exp.Expr] = {ROWS: exp.Count(this=exp.Star())} if stage == 0 else {}
    for rule, step in release.stage(stage):
        if isinstance(step.transform, Measures):
            for name, aggregate in step.transform.statistics(_inputs(rule, stage)).items():
                aggregates[parameter_column(step.slot, name)] = aggregate
    if not aggregates:
        return None
    return exp.select(*(_named(tree, name) for name, tree in aggregates.items())).from_(
        _stage_source(release, storage, target, stage)
    )


def checks_query(
    release: Release, storage: Storage, target: Target, stage: int
) -> exp.Select | None:
    """Return one SELECT for what the treatments of a stage want to see of their results."""
    aggregates: dict[str, exp.Expr] = {}
    shown: list[exp.Expr] = []
    under = _Stage(storage)
    for rule, step in release.stage(stage):
        if not isinstance(step.transform, Checks):
            continue
        before = [f"{step.slot}_i{i}" for i in range(len(rule.columns))]
        after = [f"{step.slot}_o{i}" for i in range(len(rule.columns))]
        wanted = step.transform.checks(
            [_column(name, _INPUT) for name in before], [_column(name, _INPUT) for name in after]
        )
        if wanted:
            inputs = _inputs(rule, stage)
            outputs = _outputs(release, rule, step, stage, under)
            shown += [_named(tree, name) for name, tree in zip(before, inputs, strict=True)]
            shown += [_named(tree, name) for name, tree in zip(after, outputs, strict=True)]
            aggregates |= {parameter_column(step.slot, k): v for k, v in wanted.items()}
    if not aggregates:
        return None
    values = _from_stage(exp.select(*shown), release, under, target, stage)
    return exp.select(*(_named(tree, name) for name, tree in aggregates.items())).from_(
        values.subquery(exp.to_identifier(_INPUT, quoted=True))
    )


def source_table(source: Source, alias: str = _INPUT) -> exp.Expr:
    """Return a source as it stands behind FROM."""
    if isinstance(source, QuerySource):
        return source.query.copy().subquery(exp.to_identifier(alias, quoted=True))
    if isinstance(source, FileSource):
        return exp.table_(
            exp.to_identifier(source.path, quoted=True),
            alias=exp.to_identifier(alias, quoted=True),
        )
    return table_of(source.name, alias)


def _select(
    release: Release, storage: Storage, target: Target, stages: int, is_final: bool
) -> exp.Select:
    """Return the release after a number of stages."""
    last = stages - 1
    under = _Stage(storage)
    shown: list[exp.Expr] = []
    for rule in release.released_rules:
        step = rule.steps[last] if last < len(rule.steps) else None
        outputs = _outputs(release, rule, step, last, under) if step else _inputs(rule, last)
        names = [name.text for name in rule.names] if is_final else list(_stage_names(rule))
        shown += [_named(tree, name) for tree, name in zip(outputs, names, strict=True)]
    return _from_stage(exp.select(*shown), release, under, target, last)


def _from_stage(
    select: exp.Select, release: Release, under: _Stage, target: Target, stage: int
) -> exp.Select:
    """Put a SELECT on the stage before it and join what its expressions refer to."""
    for tree in select.expressions:
        check_tree(tree, target)
    select = select.from_(_stage_source(release, under.storage, target, stage))
    if under.uses_parameters:
        parameters = table_of(under.storage.parameter_table(), _PARAMETERS)
        select = select.join(parameters, join_type="cross")
    for table, on in under.lookups:
        check_tree(on, target)
        select = select.join(table, on=on, join_type="left")
    return select


def _stage_source(release: Release, storage: Storage, target: Target, stage: int) -> exp.Expr:
    if stage == 0:
        return source_table(release.source)
    inner = _select(release, storage, target, stage, is_final=False)
    return inner.subquery(exp.to_identifier(_INPUT, quoted=True))


def _outputs(
    release: Release, rule: BoundRule, step: Step, stage: int, under: _Stage
) -> tuple[exp.Expr, ...]:
    scope = _Scope(under, step.slot)
    inputs = _inputs(rule, stage)
    transform = step.transform
    if release.execution == "udf" and isinstance(transform, HasKernel):
        outputs = transform.kernel_expr(inputs, scope)
    else:
        outputs = transform.to_expr(inputs, scope)
    if len(outputs) != len(rule.columns):
        raise InternalError(f"{transform.keyword} changed the number of columns")
    return outputs


def _inputs(rule: BoundRule, stage: int) -> list[exp.Expr]:
    """Return what a rule's columns are called by the stage that reads them."""
    if stage == 0:
        return [_column(column.name.text, _INPUT) for column in rule.columns]
    return [_column(name, _INPUT) for name in _stage_names(rule)]


def _stage_names(rule: BoundRule) -> Iterator[str]:
    first = rule.steps[0].slot
    return (f"{first}_c{i}" for i in range(len(rule.columns)))


def _column(name: str, table: str) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True)
    )


def _named(tree: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(tree, exp.to_identifier(name, quoted=True))
