"""GENERALIZE against the source: hierarchies found, targets checked, WHEN read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ppdm_sql.errors import BindError, suggest
from ppdm_sql.groups.compile import BoundTarget, GroupedColumn, Grouping
from ppdm_sql.groups.hierarchy_kinds import Hierarchy, OnlySuppress
from ppdm_sql.groups.search.stars import MOST_AXES
from ppdm_sql.groups.when import bind_when
from ppdm_sql.language.syntax import Role
from ppdm_sql.treatments.numbers import NUMBERS, TIMES
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import (
        ColumnName,
        GeneralizeClause,
        GeneralizedColumn,
        TargetClause,
    )
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import BoundRule, SourceColumn
    from ppdm_sql.treatments.protocol import InputColumn


class Hierarchies(Protocol):
    """The owner's hierarchies, as GENERALIZE asks for them."""

    def find(self, name: Name) -> Hierarchy | None:
        """Return the hierarchy of a name."""
        ...

    def names(self) -> tuple[str, ...]:
        """Return the names of all of them."""
        ...


def bind_grouping(
    hierarchies: Hierarchies,
    clause: GeneralizeClause,
    rules: Sequence[BoundRule],
    columns: Mapping[Name, SourceColumn],
    options: Mapping[str, str],
) -> Grouping:
    """Resolve the names of GENERALIZE and check that its parts fit each other."""
    _check_fixed(rules)
    grouped = tuple(_grouped(column, clause, rules, hierarchies) for column in clause.columns)
    targets = tuple(_target(target, rules, hierarchies) for target in clause.targets)
    seen: set[tuple[str, Name | None, tuple[object, ...]]] = set()
    for target in targets:
        name = target.column.name if target.column else None
        key = (target.clause.word, name, target.clause.values)
        if key in seen:
            raise BindError(
                f"target '{target.clause.word}' is given twice",
                target.clause.span,
                code="listed_twice",
            )
        seen.add(key)
    person = next((rule.columns[0] for rule in rules if rule.role is Role.KEY), None)
    when = bind_when(clause.when, columns) if clause.when is not None else None
    bounded = next((one for one in clause.columns if one.levels is not None), None)
    if bounded is not None and options["method"] == "mondrian":
        raise BindError(
            "method = 'mondrian' has no levels",
            bounded.column.span,
            "leave LEVEL out, or the method",
            code="bad_option",
        )
    if clause.suppresses_cells:
        _check_cells(clause, options)
    if any(target.clause.against for target in targets):
        _check_register(clause, rules, options)
    if options["ranges"] == "columns":
        _check_ends(clause, grouped, rules)
    return Grouping(
        grouped,
        targets,
        when,
        person,
        float(clause.percent) / 100,
        options["loss"],
        options["method"],
        options["suppressed"] == "star",
        clause.span,
        clause.suppresses_cells,
        options["ranges"] == "columns",
    )


def _check_cells(clause: GeneralizeClause, options: Mapping[str, str]) -> None:
    """Raise where single cells cannot be suppressed: they are, at levels that the owner fixed."""
    ranged = next((c for c in clause.columns if c.levels and c.levels[0] != c.levels[1]), None)
    if ranged is not None:
        raise BindError(
            f"SUPPRESS CELLS looks for no levels: '{ranged.column.name}' has two to choose from",
            ranged.column.span,
            "write LEVEL n, or leave LEVEL out: then values stay as they are",
            code="bad_option",
        )
    if options["method"] == "mondrian":
        raise BindError(
            "method = 'mondrian' suppresses no cells",
            clause.span,
            "leave CELLS out, or the method",
            code="bad_option",
        )
    if len(clause.columns) > MOST_AXES:
        raise BindError(
            f"SUPPRESS CELLS takes at most {MOST_AXES} columns",
            clause.span,
            "generalize fewer columns, or write SUPPRESS AT MOST 5%",
            code="bad_option",
        )


def _check_ends(
    clause: GeneralizeClause, grouped: Sequence[GroupedColumn], rules: Sequence[BoundRule]
) -> None:
    """Raise where a column of the release is called as the end of a range would be."""
    listed = {name.folded for rule in rules for name in rule.names}
    for column in grouped:
        for end in ("low", "high"):
            if f"{column.name.folded}_{end}" in listed:
                raise BindError(
                    f"ranges = 'columns' makes a column '{column.name}_{end}', and there is one already",
                    clause.span,
                    "give it another name in a (SELECT …) source",
                    code="listed_twice",
                )


def _check_register(
    clause: GeneralizeClause, rules: Sequence[BoundRule], options: Mapping[str, str]
) -> None:
    """Raise where a register cannot be shown as the release is."""
    if clause.suppresses_cells or options["method"] == "mondrian":
        raise BindError(
            "k_map needs levels: nobody knows which stars or regions others would be shown by",
            clause.span,
            "leave CELLS, or the method, out",
            code="bad_option",
        )
    for rule in rules:
        is_kept = all(trait.shows_originals for trait in rule.traits)
        if rule.role is Role.QUASI and rule.is_released and not (rule.is_generalized or is_kept):
            raise BindError(
                f"'{rule.names[0]}' has a treatment, so that k_map cannot compare it with a register",
                rule.span,
                "generalize the column, or give it another role",
                code="wrong_role",
            )


def _grouped(
    column: GeneralizedColumn,
    clause: GeneralizeClause,
    rules: Sequence[BoundRule],
    hierarchies: Hierarchies,
) -> GroupedColumn:
    name, span = column.column.name, column.column.span
    if sum(other.column.name == name for other in clause.columns) > 1:
        raise BindError(f"column '{name}' is generalized twice", span, code="listed_twice")
    rule = _rule_of(column.column, rules, "a column to generalize is listed as QUASI")
    if rule.role is not Role.QUASI:
        raise BindError(
            f"'{name}' is {rule.role}: only QUASI columns are generalized",
            span,
            "give it the role QUASI, or take it out of GENERALIZE",
            code="wrong_role",
        )
    if not rule.is_generalized:
        raise BindError(
            f"'{name}' has a treatment: a column is treated or generalized, not both",
            span,
            "remove the treatment, or take the column out of GENERALIZE",
            code="wrong_role",
        )
    hierarchy = _hierarchy(column.hierarchy, hierarchies)
    _check_kind(hierarchy, rule.columns[0], column.hierarchy or column.column)
    return GroupedColumn(
        rule.columns[0], rule.names[0], hierarchy, span, column.levels, float(column.weight)
    )


def _check_fixed(rules: Sequence[BoundRule]) -> None:
    """Refuse types of which equal values are shown apart: a class would fall to pieces."""
    for rule in rules:
        if rule.role is not Role.QUASI or not rule.is_released or rule.is_generalized:
            continue
        if any(traits.is_always_null for traits in rule.traits):
            continue  # NULL in every row
        for name, type_ in zip(rule.names, rule.output_types, strict=True):
            if type_.kind is Kind.OTHER:
                raise BindError(
                    f"values of '{name}', of type {type_}, cannot be compared as classes need",
                    rule.span,
                    "cast it in a (SELECT …) source, or give it another role",
                    code="wrong_type",
                )


def _rule_of(column: ColumnName, rules: Sequence[BoundRule], hint: str) -> BoundRule:
    for rule in rules:
        if column.name in rule.names:
            return rule
    known = [str(name) for rule in rules for name in rule.names]
    raise BindError(
        f"'{column.name}' is not in the list of columns",
        column.span,
        f"{hint}; {suggest(column.name.text, known, 'columns')}",
        code="unknown_column",
    )


def _hierarchy(name: ColumnName | None, hierarchies: Hierarchies) -> Hierarchy:
    if name is None:
        return Hierarchy(None, OnlySuppress())
    found = hierarchies.find(name.name)
    if found is None:
        known = hierarchies.names()
        hint = suggest(name.name.text, known, "hierarchies") if known else "CREATE HIERARCHY first"
        raise BindError(
            f"there is no hierarchy '{name.name}'", name.span, hint, code="unknown_hierarchy"
        )
    return found


def _check_kind(hierarchy: Hierarchy, column: InputColumn, place: ColumnName) -> None:
    if column.type.kind not in hierarchy.shape.kinds:
        kinds = ", ".join(sorted(hierarchy.shape.kinds))
        write = "cast the column in a (SELECT …) source"
        if column.type.kind in TIMES:
            write = "for dates and times write CREATE HIERARCHY … AS DATE (month, year, decade)"
        raise BindError(
            f"{hierarchy.shape.word} cannot generalize '{column.name}', of type {column.type}",
            place.span,
            f"it takes {kinds}; {write}",
            code="wrong_type",
        )


def _target(
    clause: TargetClause, rules: Sequence[BoundRule], hierarchies: Hierarchies
) -> BoundTarget:
    _check_numbers(clause)
    if clause.column is None:
        return BoundTarget(clause)
    rule = _rule_of(clause.column, rules, "a target names a SENSITIVE column of the release")
    if rule.role is not Role.SENSITIVE:
        raise BindError(
            f"'{clause.column.name}' is {rule.role}: {clause.word} is about a SENSITIVE column",
            clause.column.span,
            "give the column the role SENSITIVE",
            code="wrong_role",
        )
    column = rule.columns[rule.names.index(clause.column.name)]
    if column.type.kind is Kind.OTHER:
        raise BindError(
            f"values of '{column.name}', of type {column.type}, cannot be compared as targets need",
            clause.column.span,
            "cast it in a (SELECT …) source",
            code="wrong_type",
        )
    if clause.word == "proximity" and column.type.kind not in NUMBERS:
        raise BindError(
            f"proximity is about numbers; '{column.name}' is {column.type}",
            clause.column.span,
            "for categories write l, t or alpha",
            code="wrong_type",
        )
    hierarchy = None
    if clause.hierarchy is not None:
        hierarchy = _hierarchy(clause.hierarchy, hierarchies)
        _check_kind(hierarchy, column, clause.hierarchy)
    return BoundTarget(clause, column, hierarchy)


def _check_numbers(clause: TargetClause) -> None:
    value = clause.value
    match clause.word:
        case "k" | "l" | "recursive_l" | "proximity" | "kpqr" | "k_map" if (
            not isinstance(value, int) or value < 2
        ):
            raise BindError(
                f"{clause.word} must be a whole number, 2 or more", clause.span, code="bad_target"
            )
        case "entropy_l" if value <= 1:
            raise BindError("entropy_l must be above 1", clause.span, code="bad_target")
        case "t" if not 0 <= value <= 1:
            raise BindError("t must be between 0 and 1", clause.span, code="bad_target")
        case "alpha" if not 0 < value <= 1:
            raise BindError("alpha must be above 0 and at most 1", clause.span, code="bad_target")
    match clause.word, clause.numbers:
        case "recursive_l", (c,) if c <= 0:
            raise BindError("c of recursive_l must be above 0", clause.span, code="bad_target")
        case "proximity", (distance,) if distance < 0:
            raise BindError(
                "the distance of proximity is 0 or more", clause.span, code="bad_target"
            )
        case "kpqr", (p, q, r) if not (isinstance(p, int) and p >= 2 and 0 < q <= 1 and r >= 0):
            raise BindError(
                "kpqr needs p from 2 on, q above 0 and at most 1, and r from 0 on",
                clause.span,
                "write kpqr(column, 3, 0.05, 0.5) = 5",
                code="bad_target",
            )
