"""Columns that leave unchanged and tell persons apart: e-mail addresses, phone and other numbers.

One scan estimates how many different values each such column has; only where that is about as many
as there are persons, it is counted exactly who is alone in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import find_grouping, grouped_select
from ppdm_sql.language.syntax import Role
from ppdm_sql.release.acceptance import Acceptance, Objection
from ppdm_sql.release.compile import source_table
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import Release
    from ppdm_sql.release.version import Version

_ROWS, _VALUES, _PERSON = "s", "v", "ppdm_person"
_LOOKED_AT = (Kind.TEXT, Kind.UUID, Kind.INTEGER, Kind.ENUM)
_CONTINUOUS = (Kind.FLOAT, Kind.DECIMAL, Kind.DATE, Kind.TIMESTAMP)
FEWEST = 100
"""Persons below which nothing is said of how many are alone in a column."""
MOSTLY = 0.9
_PERHAPS = 0.7
"""The estimated share of different values from which they are counted."""
_SOME = 0.1
"""The share of addresses and numbers from which a column is one of these."""
_PERSONS = "identifying persons"
_PHONES = (
    r"(?:(?i:tel|tel[ée]fono|phone|fon|mobile?|mob|fax)[.:]* ?)?\(?(?:\+\d|00?[1-9])[\d ()./-]{6,}\d",
    r"\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}",  # as in America
    r"\d{5} \d{5}",  # as in India
)
_SOUNDS = re.compile(
    r"(?i)\b(?:sur|fore)[_ -]?name|(?:first|last|full|family|given|maiden)[_ -]?names?\b"
    r"|(?:vor|nach|familien)[_ -]?name|apellidos?|prenom|prénom"
)
_DATES = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}.*"
PATTERNS = {
    "e-mail addresses": r"(?s).*\S@[^@\s]+\.[^@\s.].*",  # also among other words
    "phone numbers": "|".join(_PHONES),
}


@dataclass(frozen=True, slots=True)
class _Column:
    """A released column that shows its original values."""

    name: Name
    source: Name
    kind: Kind
    number: int
    span: Span | None

    def aggregate(self, word: str) -> str:
        return f"identifying {word} {self.number}"


def identifying_aggregates(release: Release) -> dict[str, exp.Expr]:
    """Return what one scan of the source tells of all such columns, by name."""
    columns = list(_unchanged(release))
    if not columns:
        return {}
    key = release.key
    count: exp.Expr = exp.Count(this=exp.Star())
    if key is not None:
        count = exp.ApproxDistinct(this=column_of(key.name.text, _ROWS))
    found: dict[str, exp.Expr] = {_PERSONS: count}
    for column in columns:
        value = column_of(column.source.text, _ROWS)
        found[column.aggregate("values")] = exp.ApproxDistinct(this=value)
        if column.kind in (Kind.TEXT, Kind.ENUM):
            text = exp.cast(value.copy(), "VARCHAR")
            found[column.aggregate("known")] = exp.Count(this=value.copy())
            for word, pattern in PATTERNS.items():
                matches = exp.and_(_matches(text, pattern), exp.not_(_matches(text, _DATES)))
                found[column.aggregate(word)] = exp.CountIf(this=matches)
    return found


def _matches(text: exp.Expr, pattern: str) -> exp.Expr:
    trimmed = exp.Trim(this=text.copy())
    return exp.RegexpFullMatch(this=trimmed, expression=exp.Literal.string(pattern))


def identifying_columns(
    version: Version, found: Mapping[str, Any]
) -> tuple[list[Objection], list[str]]:
    """Return what speaks against columns, and warnings of those whose numbers are continuous."""
    objections: list[Objection] = []
    warnings: list[str] = []
    persons = int(found.get(_PERSONS) or 0)
    for column in _unchanged(version.release):
        pattern = _pattern(column, found)
        distinct = int(found.get(column.aggregate("values")) or 0)
        share = 0.0
        if pattern is None and distinct >= max(_PERHAPS * persons, _PERHAPS * FEWEST):
            share = share_alone(version, column.source)
        if pattern is None and share <= MOSTLY:
            if column.kind in (Kind.TEXT, Kind.ENUM) and _SOUNDS.search(column.name.text):
                warnings.append(
                    f"'{column.name}' is called as names of persons are, and is released unchanged: if it"
                    " holds them, list it as IDENTIFIER"
                )
            continue
        if pattern is not None:
            what = f"'{column.name}' holds {pattern}, which name persons"
        else:
            what = f"{share:.0%} of the persons have a '{column.name}' that nobody else has"
        if column.kind in _CONTINUOUS:
            warnings.append(f"{what}: who knows the value finds the row")
            continue
        hint = (
            "list it as IDENTIFIER, which is not released, or treat it, for example AS pseudonym()"
        )
        objections.append(
            Objection(Acceptance("identifying", column.name), what, hint, column.span)
        )
    return objections, warnings


def identifying_groups(version: Version) -> list[Objection]:
    """Return what speaks against recoded columns that still name persons.

    Only where nothing asks for a number of persons in each class: else, nobody is alone.
    """
    grouping = find_grouping(version.release)
    if grouping is None or grouping.k > 1:
        return []
    key = version.release.key
    carried = {} if key is None else {_PERSON: exp.column(exp.to_identifier(key.name.text, True))}
    rows = grouped_select(version, carried).subquery(exp.to_identifier(_ROWS, quoted=True))
    person = None if key is None else column_of(_PERSON, _ROWS)
    found = []
    for column in grouping.columns:
        share = _share_alone(version.engine, rows, column_of(column.name.text, _ROWS), person)
        if share > MOSTLY:
            found.append(
                Objection(
                    Acceptance("identifying", column.name),
                    f"{share:.0%} of the persons have a '{column.name}' that nobody else has, also as"
                    " it is generalized",
                    "write a higher level, or UNTIL k = 5",
                    column.span,
                )
            )
    return found


def _unchanged(release: Release) -> Iterator[_Column]:
    number = 0
    grouping = find_grouping(release)
    has_untouched = grouping is not None and grouping.when is not None
    as_they_are = {
        column.name
        for column in (() if grouping is None or grouping.k > 1 else grouping.columns)
        if not column.levels or not column.levels[0]
    }
    for rule in release.released_rules:
        # A KEY that leaves as it is has a warning of its own.
        is_shown = all(
            one.treatment.traits.shows_originals
            or one.treatment.traits.shows_some_originals
            or one.treatment.leaves_most_rows
            for one in rule.steps
        ) or (rule.is_generalized and (has_untouched or as_they_are.intersection(rule.names)))
        if rule.role is Role.KEY or not is_shown:
            continue
        for name, column in zip(rule.names, rule.columns, strict=True):
            kind = column.type.kind
            if (kind is Kind.DECIMAL and column.type.decimals == 0) or str(column.type) == "BIGNUM":
                kind = Kind.INTEGER
            if str(column.type).startswith(("TIME", "BIT", "INTERVAL")):
                kind = Kind.TIMESTAMP
            if kind in _LOOKED_AT or kind in _CONTINUOUS:
                yield _Column(name, column.name, kind, number, rule.span)
                number += 1


def _pattern(column: _Column, found: Mapping[str, Any]) -> str | None:
    known = int(found.get(column.aggregate("known")) or 0)
    counts = {word: int(found.get(column.aggregate(word)) or 0) for word in PATTERNS}
    if sum(counts.values()) <= _SOME * known:
        return None
    return max(counts, key=lambda word: counts[word])


def share_alone(version: Version, column: Name, fewest: int = FEWEST) -> float:
    """Return the share of persons who have a value that nobody else has; 0 of fewer persons."""
    key = version.release.key
    rows = source_table(version.release.source, _ROWS)
    person = None if key is None else column_of(key.name.text, _ROWS)
    return _share_alone(version.engine, rows, column_of(column.text, _ROWS), person, fewest)


def _share_alone(
    engine: Engine,
    rows: exp.Expr,
    value: exp.Expr,
    person: exp.Column | None,
    fewest: int = FEWEST,
) -> float:
    persons: exp.Expr = exp.Count(this=exp.Star())
    if person is not None:
        persons = exp.Count(this=exp.Distinct(expressions=[person.copy()]))
    values = (
        exp.select(
            named(persons, "persons"),
            named(exp.null() if person is None else exp.AnyValue(this=person.copy()), "person"),
        )
        .from_(rows.copy())
        .where(exp.Not(this=exp.Is(this=value, expression=exp.null())))
        .group_by(value.copy())
    )
    alone: exp.Expr = exp.Count(this=exp.Star())
    if person is not None:
        alone = exp.Count(this=exp.Distinct(expressions=[column_of("person", _VALUES)]))
    only = exp.EQ(this=column_of("persons", _VALUES), expression=exp.Literal.number(1))
    query = exp.select(named(alone, "alone")).from_(
        values.subquery(exp.to_identifier(_VALUES, quoted=True))
    )
    everybody = exp.select(named(persons.copy(), "persons")).from_(rows.copy())
    both = exp.select(
        named(query.where(only).subquery(), "alone"), named(everybody.subquery(), "persons")
    )
    (row,) = engine.query(both).to_pylist()
    return row["alone"] / row["persons"] if row["persons"] >= fewest else 0.0
