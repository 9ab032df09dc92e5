"""The artefact: what goes out is materialised once, checked as it is, and compared with the file.

The person behind a row and its sensitive originals are kept beside it for that, and not written.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.errors import EngineError, InternalError, Refused
from ppdm_sql.groups.compile import HIGH, find_grouping, grouped_select, high_flag
from ppdm_sql.groups.queries import told_apart
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import QualifiedName
from ppdm_sql.release.compile import rows_with
from ppdm_sql.release.version import released

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.names import Name
    from ppdm_sql.release.version import Version

ROWS, PERSON, STAR = "s", "ppdm_person", "ppdm_star"
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The rows of a version as they go out, with what they are checked by beside them."""

    version: Version
    table: QualifiedName
    columns: tuple[tuple[str, str], ...]
    """The released columns with their types; the table has more."""
    identifiers: tuple[tuple[str, Name], ...]
    """Columns of the table that hold an IDENTIFIER, and how it is called."""

    def rows(self) -> exp.Table:
        """Return the table as it stands behind FROM."""
        return table_of(self.table, ROWS)

    def count(self) -> int:
        """Return how many rows go out."""
        return _row(self.version.engine, [exp.Count(this=exp.Star())], self)[0]


@contextmanager
def taken(version: Version) -> Iterator[Snapshot]:
    """Give a version's rows as they are now, beside the owner's database and for a while."""
    engine = version.engine
    carried, identifiers = _carried(version)
    grouping = find_grouping(version.release)
    rows = (
        rows_with(version, carried)
        if grouping is None
        else grouped_select(version, carried, suppressed_flag=STAR)
    )
    columns = engine.columns(version.select())
    if [name for name, _ in columns] != [column.name for column in released(version.columns)]:
        raise InternalError(f"the columns of '{version.entry.name}' are not those of its version")
    table = QualifiedName.of("temp", "main", f"ppdm_snapshot_{secrets.token_hex(8)}")
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    create = exp.Create(this=table_of(table), kind="TABLE", expression=rows, properties=temporary)
    engine.run(create)
    try:
        yield Snapshot(version, table, tuple(columns), identifiers)
    finally:
        with suppress(EngineError):  # in an aborted transaction it is gone already
            engine.run(exp.Drop(tables=[table_of(table)], kind="TABLE"))


def sensitive_column(index: int) -> str:
    """Return the name under which the original of a sensitive column is kept."""
    return f"ppdm_sensitive_{index}"


def _carried(version: Version) -> tuple[dict[str, exp.Expr], tuple[tuple[str, Name], ...]]:
    """Return what is kept beside the rows: person, IDENTIFIERs, sensitive originals, high class."""
    carried: dict[str, exp.Expr] = {}
    identifiers: list[tuple[str, Name]] = []
    for rule in version.release.rules:
        if rule.role is Role.KEY:
            carried[PERSON] = _of_source(rule.columns[0].name)
        elif rule.role is Role.IDENTIFIER:
            for column, name in zip(rule.columns, rule.names, strict=True):
                kept = f"ppdm_identifier_{len(identifiers)}"
                carried[kept] = exp.cast(_of_source(column.name), "VARCHAR")
                identifiers.append((kept, name))
    grouping = find_grouping(version.release)
    for index, column in enumerate(grouping.sensitive if grouping else ()):
        carried[sensitive_column(index)] = told_apart(_of_source(column.name), column.type)
    if grouping is not None and grouping.when is not None:
        carried[HIGH] = high_flag(grouping.when)
    return carried, tuple(identifiers)


def refuse_identifiers(snapshot: Snapshot) -> None:
    """Raise where a released column shows an IDENTIFIER in more than half of the rows."""
    shown = [
        name
        for rule in snapshot.version.release.released_rules
        # What becomes a name is no copy; noise leaves rows alone, and groups those outside WHEN.
        if not any(one.renames or one.is_always_null for one in rule.traits)
        for name in rule.names
    ]
    pairs = [(name, kept, called) for name in shown for kept, called in snapshot.identifiers]
    if not pairs:
        return
    counts: list[exp.Expr] = [
        exp.CountIf(this=_same(column_of(name.text, ROWS), column_of(kept, ROWS)))
        for name, kept, _ in pairs
    ]
    total, *same = _row(snapshot.version.engine, [exp.Count(this=exp.Star()), *counts], snapshot)
    for (name, _, called), count in zip(pairs, same, strict=True):
        if count > _HALF * total:
            raise Refused(
                f"'{name}' shows the IDENTIFIER '{called}' in more than half of the rows",
                hint="list it as IDENTIFIER, too, or treat it",
                code="shows_identifier",
            )


def _same(shown: exp.Expr, identifier: exp.Expr) -> exp.Expr:
    """Whether two values are written alike, or are one number: 7 and 7.0."""
    text = exp.cast(shown, "VARCHAR")
    double = exp.DataType.build("DOUBLE")
    numbers = (exp.TryCast(this=side.copy(), to=double.copy()) for side in (text, identifier))
    first, second = numbers
    return exp.or_(exp.EQ(this=text, expression=identifier), exp.EQ(this=first, expression=second))


def compare(snapshot: Snapshot, shown: Sequence[exp.Expr], written: exp.Expr) -> None:
    """Raise unless a file holds exactly the rows that were to be written, however often each."""
    engine = snapshot.version.engine
    expected = exp.select(*(tree.copy() for tree in shown)).from_(snapshot.rows())
    wanted = engine.columns(expected)
    found = engine.columns(exp.select("*").from_(written.copy()))
    if [name for name, _ in found] != [name for name, _ in wanted]:
        raise InternalError(f"the columns of '{snapshot.version.entry.name}' are not those written")
    there = [
        # Parquet has other types for some; what matters is that the values come back.
        named(_as(column_of(name, ROWS), type_ if type_ != is_type else None), name)
        for (name, type_), (_, is_type) in zip(wanted, found, strict=True)
    ]
    whole = exp.select("*").from_(written.copy())
    back = exp.select(*there).from_(whole.subquery(exp.to_identifier(ROWS, quoted=True)))
    names = [name for name, _ in wanted]
    try:
        same = _digest(engine, expected, names) == _digest(engine, back, names)
    except EngineError:
        same = False
    if not same:
        raise Refused(
            f"'{snapshot.version.entry.name}' could not be written unchanged: the type of one of its"
            " columns does not exist in this format",
            hint="publish it to a DuckDB file, or cast the column in a (SELECT …) source",
            code="wrong_type",
        )


def _digest(engine: Engine, rows: exp.Select, names: Sequence[str]) -> tuple[object, ...]:
    """Return the number of rows and the sum of their hashes: the same for the same rows."""
    hashed = exp.Anonymous(this="hash", expressions=[column_of(name, ROWS) for name in names])
    shown = [named(exp.Count(this=exp.Star()), "rows"), named(exp.Sum(this=hashed), "sum")]
    query = exp.select(*shown).from_(rows.subquery(exp.to_identifier(ROWS, quoted=True)))
    (row,) = engine.query(query).to_pylist()
    return tuple(row.values())


def _as(column: exp.Expr, type_: str | None) -> exp.Expr:
    return column if type_ is None else exp.Cast(this=column, to=exp.var(type_))


def _row(engine: Engine, counts: Sequence[exp.Expr], snapshot: Snapshot) -> list[int]:
    shown = [named(tree, f"c{index}") for index, tree in enumerate(counts)]
    (row,) = engine.query(exp.select(*shown).from_(snapshot.rows())).to_pylist()
    return [int(value or 0) for value in row.values()]  # of nothing but NULLs, it is NULL


def _of_source(name: Name) -> exp.Column:
    return exp.column(exp.to_identifier(name.text, quoted=True))
