"""What is kept beside the rows of a study, to decide who and what goes out; none of it is written."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.queries import distinguishable
from ppdm_sql.language.syntax import Role
from ppdm_sql.publish.snapshot import ROWS
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.sources import Sources
from ppdm_sql.studies.spelling import comparable, without_signs
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.release.version import Version
    from ppdm_sql.studies.naming import Named
    from ppdm_sql.studies.study import Study

ORDER = "ppdm_order"
"""What rows of a person are chosen by."""


def carried(study: Study, version: Version) -> Mapping[str, exp.Expr]:
    """Return the originals of what refers and is referred to, of l, and of rows to choose."""
    name = version.entry.name
    kept: dict[str, exp.Expr] = {}
    columns = Sources(version.engine).columns(version.release.source)
    types = {column.name: column.type for column in columns}
    for one in sorted(originals(study, name), key=str):
        value = exp.column(exp.to_identifier(one.text, quoted=True))
        kept[kept_column(one)] = comparable(value, types[one])
    for spelled in {one.original for one in study.naming[name].things if one.is_spelled}:
        value = exp.column(exp.to_identifier(spelled.text, quoted=True))
        kept[kept_column(spelled, is_spelled=True)] = without_signs(
            comparable(value, types[spelled])
        )
    for whom in study.naming[name].persons:
        kept[person_column(whom.original)] = _as_person(version, whom)
    for at, target in enumerate(study.targets):
        if target.column is not None and target.release == name:
            value = exp.column(exp.to_identifier(target.column.name.text, quoted=True))
            kept[sensitive_column(at)] = distinguishable(value, target.column.type)
    if study.most_rows(name) is not None:
        cells: list[exp.Expr] = [
            exp.Coalesce(this=_text(one), expressions=[exp.Literal.string("")])
            for one in _told_apart_by(version)
        ]
        kept[ORDER] = reduce(_beside, cells)
    return kept


def originals(study: Study, name: QualifiedName) -> set[Name]:
    """Return the columns of a source whose values refer, are referred to, or name things."""
    named_by = study.naming[name].things
    things = {one.original for one in named_by if not (one.is_pseudonym or one.is_spelled)}
    children = {one.column.name for one in study.references if one.child == name}
    return things | children | {one.key.name for one in study.references if one.parent == name}


def _as_person(version: Version, named: Named) -> exp.Expr:
    """Return what a column says of a person as the KEY is written: 007, '7' and 7.0 are one."""
    key = version.release.key
    assert key is not None  # a study has no release without one
    column = exp.column(exp.to_identifier(named.original.text, quoted=True))
    if key.type.kind is Kind.TEXT:
        return exp.cast(column, "VARCHAR")
    type_ = exp.DataType.build(key.type.text, dialect="duckdb")
    return exp.cast(exp.TryCast(this=column, to=type_), "VARCHAR")


def _told_apart_by(version: Version) -> list[str]:
    """Return what tells the rows of a person apart, whatever else of them changes.

    A column that alone names the row, or the table's PRIMARY KEY; then columns that do so together;
    without any, what is released.
    """
    rules = [rule for rule in version.release.released_rules if rule.role is not Role.KEY]
    naming = [rule for rule in rules if any(one.draws_from_keys for one in rule.traits)]
    names = [column.name.text for rule in naming for column in rule.columns]
    for name in names:
        if _are_unique(version, [name]):
            return [name]
    key = Sources(version.engine).primary_columns(version.release.source)
    if key:
        return [column.text for column in key]
    if names and _are_unique(version, names):
        return names
    return list(dict.fromkeys(column.name.text for rule in rules for column in rule.columns))


def _are_unique(version: Version, names: list[str]) -> bool:
    """Whether no two rows have the same in these columns: a doctor is no name of a visit."""
    columns = [column_of(name, ROWS) for name in names]
    distinct = exp.select(*columns).distinct().from_(source_table(version.release.source, ROWS))
    every = exp.select(*(one.copy() for one in columns))
    every = every.from_(source_table(version.release.source, ROWS))
    counts = [
        int(
            version.engine.query(
                exp.select(named(exp.Count(this=exp.Star()), "n")).from_(rows.subquery("r"))
            )
            .column("n")[0]
            .as_py()
        )
        for rows in (distinct, every)
    ]
    return counts[0] == counts[1]


def kept_column(original: Name, is_spelled: bool = False) -> str:
    """Return the name under which the original of a column is kept, or its letters and digits."""
    return f"ppdm_study_{'s' if is_spelled else 'o'}_{original.folded}"


def person_column(original: Name) -> str:
    """Return the name under which it is kept whom a column names."""
    return f"ppdm_study_p_{original.folded}"


def sensitive_column(at: int) -> str:
    """Return the name under which the original of a target's column is kept."""
    return f"ppdm_study_l{at}"


def _beside(text: exp.Expr, other: exp.Expr) -> exp.Expr:
    apart = exp.DPipe(this=text, expression=exp.Literal.string(":"))
    return exp.DPipe(this=apart, expression=other)


def _text(name: str) -> exp.Expr:
    return exp.cast(exp.column(exp.to_identifier(name, quoted=True)), "VARCHAR")
