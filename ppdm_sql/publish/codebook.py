"""What the codebook says of each column of a release that goes out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import BindError, suggest
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import Name, chain
from ppdm_sql.publish.options import DISCLOSE
from ppdm_sql.publish.snapshot import ROWS
from ppdm_sql.store.figures import list_figures
from ppdm_sql.treatments.generalized_column import Generalize
from ppdm_sql.treatments.keep import Keep
from ppdm_sql.types import ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from ppdm_sql.delivery.codebook import Line
    from ppdm_sql.language.syntax import Option
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.treatment import Treatment

_MOST_VALUES = 30
_ESTIMATED = 40
"""How many an estimate may say where there are no more than that."""
_WRITTEN = re.compile(r"\s*(\w+)\s*\(\s*(.+?)\s*\)\s*")
_FROM_TO = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP)
_BEFORE = "; of numbers with decimals and of times, it is less than this"
_WRITE = "write disclose = ['noise(weight)']"


def codebook(snapshot: Snapshot, disclosed: Mapping[Name, str]) -> Iterator[Line]:
    """Return a line for each column, in their order."""
    version = snapshot.version
    values = _values(snapshot)
    types = dict(snapshot.columns)
    same = _left_as_it_was(version)
    for rule in version.release.released_rules:
        for name in rule.names:
            yield {
                "release": str(version.entry.name),
                "column_name": name.text,
                "role": rule.role.value,
                "type": types[name.text],
                "treatment": chain(rule.words),
                "meaning": "; then ".join(_readings(version, rule, name, same)),
                "missing": "; ".join(_missing(version, rule, name)),
                "shown": values.get(name.text),
                "disclosed": disclosed.get(name),
            }
            for end, what in zip(_ends(version, name), ("least", "largest"), strict=False):
                yield {
                    "release": str(version.entry.name),
                    "column_name": end,
                    "role": rule.role.value,
                    "type": types[end],
                    "treatment": chain(rule.words),
                    "meaning": f"the {what} value that '{name}' may be"
                    + _BEFORE * (what == "largest"),
                    "missing": f"NULL: '{name}' is missing, or `*`",
                    "shown": values.get(end),
                    "disclosed": None,
                }


def _ends(version: Version, name: Name) -> tuple[str, ...]:
    grouping = find_grouping(version.release)
    return () if grouping is None else grouping.ends(name) or ()


def disclosed_in(
    options: Sequence[Option], version: Version, others: Sequence[Name]
) -> dict[Name, str]:
    """Return what the owner discloses of a release's columns; raise for what is none of any's."""
    found: dict[Name, list[str]] = {}
    for option in options:
        if option.name != DISCLOSE:
            continue
        values = option.value if isinstance(option.value, tuple) else (option.value,)
        for value in values:
            written = _WRITTEN.fullmatch(value) if isinstance(value, str) else None
            if written is None:
                raise BindError(
                    f"'{DISCLOSE}' must be a list of treatments of columns",
                    option.span,
                    _WRITE,
                    code="bad_option",
                )
            word, column = written[1].lower(), Name(written[2].strip('"'))
            said = _of_column(version, word, column)
            if said is not None:
                found.setdefault(column, []).append(said)
            elif column not in others:
                known = [f"{word}({name})" for word, name in _possible(version)]
                raise BindError(
                    f"nothing of '{value}' can be disclosed",
                    option.span,
                    suggest(str(value), known, "what can be"),
                    code="bad_option",
                )
    return {column: "; ".join(said) for column, said in found.items()}


def _of_column(version: Version, word: str, column: Name) -> str | None:
    for rule in version.release.released_rules:
        for at, name in enumerate(rule.names):
            for step in rule.steps if name == column else ():
                if step.treatment.keyword == word:
                    return step.treatment.disclosed(version.parameters[step.slot], at)
    return None


def _possible(version: Version) -> Iterator[tuple[str, Name]]:
    for rule in version.release.released_rules:
        for at, name in enumerate(rule.names):
            for step in rule.steps:
                if step.treatment.disclosed(version.parameters[step.slot], at) is not None:
                    yield step.treatment.keyword, name


def _treatments(version: Version, rule: BoundRule, name: Name) -> list[type[Treatment]]:
    grouping = find_grouping(version.release)
    is_grouped = grouping is not None and name in {one.name for one in grouping.columns}
    own: list[type[Treatment]] = [type(step.treatment) for step in rule.steps]
    return [Generalize] if is_grouped else own


def _readings(version: Version, rule: BoundRule, name: Name, same: Container[Name]) -> list[str]:
    treatments = [Keep] if name in same else _treatments(version, rule, name)
    return [one.reading or one.summary for one in treatments]


def _left_as_it_was(version: Version) -> set[Name]:
    """Return the columns that GENERALIZE did not need to make coarser."""
    grouping = find_grouping(version.release)
    figures = list_figures(version.engine, version.entry.storage) if grouping else []
    levels = {one.figure: one.value for one in figures}
    names = {one.name for one in grouping.columns} if grouping is not None else set()
    return {name for name in names if levels.get(f"level of {name}") == 0}


def _missing(version: Version, rule: BoundRule, name: Name) -> Iterator[str]:
    reasons = [one.missing for one in _treatments(version, rule, name) if one.missing]
    yield " ".join(("NULL: missing", *reasons))
    grouping = find_grouping(version.release)
    if grouping is not None and grouping.hides_sensitive(version.release):
        if name in {one.name for one in grouping.columns}:
            yield "`*` in all such columns: the record was suppressed"
        elif rule.role is Role.SENSITIVE:
            yield "NULL in a record that was suppressed"


def _values(snapshot: Snapshot) -> dict[str, str]:
    """Return the values of columns that have few, and from where to where numbers and dates go."""
    if not snapshot.count():
        return {}
    columns = {name: ColumnType(type_) for name, type_ in snapshot.columns}
    asked: list[exp.Expr] = []
    for name, type_ in columns.items():
        value = column_of(name, ROWS)
        asked.append(named(exp.ApproxDistinct(this=value), f"n {name}"))
        if type_.kind in _FROM_TO:
            text = [exp.cast(end(this=value.copy()), "VARCHAR") for end in (exp.Min, exp.Max)]
            asked += [named(text[0], f"from {name}"), named(text[1], f"to {name}")]
    engine = snapshot.version.engine
    (row,) = engine.query(exp.select(*asked).from_(snapshot.rows())).to_pylist()
    found: dict[str, str] = {}
    for name, type_ in columns.items():
        if type_.kind in _FROM_TO:
            if row[f"from {name}"] is not None:
                found[name] = f"{row[f'from {name}']} to {row[f'to {name}']}"
        elif int(row[f"n {name}"]) <= _ESTIMATED:
            text_ = exp.cast(column_of(name, ROWS), "VARCHAR")
            is_known = exp.Not(this=exp.Is(this=text_.copy(), expression=exp.null()))
            query = exp.select(named(text_, "v")).distinct().from_(snapshot.rows()).where(is_known)
            values = sorted(engine.query(query).column("v").to_pylist())
            if len(values) <= _MOST_VALUES:
                # In quotes where a value could be taken for two.
                quoted = [f"'{one}'" if "," in one or one != one.strip() else one for one in values]
                found[name] = ", ".join(quoted)
    return found
