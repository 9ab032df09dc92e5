"""One study of several sites' publications: rows stacked, or columns joined on the pseudonym.

Runs at the miner, who holds nothing but published files; so all that is known of a column is what
its comment says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.delivery.destinations import DatabaseFile
from ppdm_sql.delivery.place import Place, target_of
from ppdm_sql.delivery.signature import public_key_of
from ppdm_sql.delivery.workplace import workplace
from ppdm_sql.errors import BindError, plural
from ppdm_sql.names import Name, chain
from ppdm_sql.scratch import make_scratch
from ppdm_sql.sites.site_files import (
    Part,
    PartColumn,
    Wanted,
    check_same_columns,
    join_key,
    read_part,
)
from ppdm_sql.store.opening import open_database
from ppdm_sql.store.publications import new_name
from ppdm_sql.treatments import traits_of
from ppdm_sql.treatments.numbers import NUMBERS
from ppdm_sql.types import ColumnType

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from ppdm_sql.delivery.release_info import Info
    from ppdm_sql.engine.duckdb import Engine

HOW = ("stack", "join")
MISSING = ("null", "mean", "mode", "drop")
_JOINED = "joined"


@dataclass(frozen=True, slots=True)
class Combined:
    """What was made of the parts."""

    release: str
    rows: int
    notes: tuple[str, ...]
    """What a reader of the study must know."""


def combine(
    files: Sequence[str | os.PathLike[str]],
    to: str | os.PathLike[str],
    how: str,
    agreement: str,
    missing: str = "null",
    release: str | None = None,
) -> Combined:
    """Write one publication of several; refuse those that do not belong together.

    `agreement` is the fingerprint that a site told: what its key did not sign is not read.
    """
    if how not in HOW or missing not in MISSING:
        raise BindError(
            f"how is one of {', '.join(HOW)}; missing one of {', '.join(MISSING)}", code="usage"
        )
    if len(files) < 2:
        raise BindError("a study combines the files of two or more sites", code="usage")
    if Path(to).resolve() in [Path(file).resolve() for file in files]:
        raise BindError(
            f"'{Path(to).name}' is one of the files to combine",
            hint="name a new file",
            code="usage",
        )
    fingerprint = public_key_of(agreement).public_bytes_raw().hex()
    engine, scratch = open_database(None), make_scratch("ppdm-combine-")
    try:
        parts = [
            read_part(
                engine,
                Path(file),
                Wanted(Name(f"ppdm_part_{index}"), fingerprint, release),
                scratch.path,
            )
            for index, file in enumerate(files)
        ]
        rows, columns, notes = (
            _stacked(parts) if how == "stack" else _joined(engine, parts, missing)
        )
        _refuse_twice(parts)
        accepted = dict.fromkeys(one for part in parts for one in (part.accepted or "").split(", "))
        said = ", ".join(filter(None, accepted)) or None
        study = _Study(rows, columns, notes, fingerprint, said)
        return _write(engine, parts[0], study, Path(to))
    finally:
        engine.close()
        scratch.remove()


def _refuse_twice(parts: Sequence[Part]) -> None:
    """Raise where one publication is given twice: its persons would be counted twice."""
    seen: dict[tuple[str, str], Part] = {}
    for part in parts:
        if part.publication is None:
            continue
        first = seen.setdefault((part.publication, str(part.release)), part)
        if first is not part:
            raise BindError(
                f"'{first.path}' and '{part.path}' are one publication",
                hint="give each file once",
                code="usage",
            )


def _stacked(
    parts: Sequence[Part],
) -> tuple[exp.Query, tuple[PartColumn, ...], tuple[str, ...]]:
    """Return the rows of all parts, columns in the order of the first."""
    check_same_columns(parts)
    names = [column.name for column in parts[0].columns]
    selects = [exp.select(*map(_column, names)).from_(part.table) for part in parts]
    total: exp.Query = selects[0]
    for select in selects[1:]:
        total = exp.union(total, select, distinct=False)
    return total, parts[0].columns, ()


def _joined(
    engine: Engine, parts: Sequence[Part], missing: str
) -> tuple[exp.Query, tuple[PartColumn, ...], tuple[str, ...]]:
    """Return the columns of all parts beside each other, and what is to be said of them."""
    key = join_key(parts)
    persons = _persons(engine, parts, key)
    kept = Name("ppdm_key")
    joined = exp.select(_column(key).as_(_quoted(kept), copy=False)).from_(parts[0].table)
    everybody: exp.Query = joined
    for part in parts[1:]:
        mine = exp.select(_column(key).as_(_quoted(kept), copy=False)).from_(part.table)
        everybody = (
            exp.intersect(everybody, mine) if missing == "drop" else exp.union(everybody, mine)
        )
    total = _count(engine, everybody.subquery(_JOINED), _column(kept))
    people = exp.select(exp.column(_quoted(kept), table=_JOINED)).from_(everybody.subquery(_JOINED))
    columns = [replace(parts[0].keys[0])]
    shown: list[exp.Expr] = [_named(exp.column(_quoted(kept), table=_JOINED), key)]
    notes: list[str] = []
    for part in parts:
        alias = part.alias.text
        presence = exp.column(_quoted(key), table=alias)
        on = exp.EQ(this=exp.column(_quoted(kept), table=_JOINED), expression=presence)
        people = people.join(exp.alias_(part.table, alias, table=True), on=on, join_type="left")
        for column in part.columns:
            if column.name == key:
                continue
            value: exp.Expr = exp.column(_quoted(column.name), table=alias)
            if missing in ("mean", "mode"):
                by_mean = missing == "mean" and ColumnType(column.type).kind in NUMBERS
                filler = _mean(part, column) if by_mean else _mode(part, column)
                absent = presence.copy().is_(exp.null())
                if by_mean:
                    value = exp.cast(value, "DOUBLE")
                    notes += _not_affine(column) if persons[part.alias] < total else []
                value = exp.case().when(absent, filler).else_(value)
            shown.append(_named(value, column.name))
            columns.append(column)
    return people.select(*shown, append=False), tuple(columns), tuple(notes)


def _persons(engine: Engine, parts: Sequence[Part], key: Name) -> dict[Name, int]:
    """Return how many people each site has; raise when rows of one would be multiplied."""
    persons, repeating = {}, []
    for part in parts:
        keyless = _count(engine, part.table, exp.Star()) - _count(engine, part.table, _column(key))
        if keyless:
            raise BindError(
                f"'{part.path}' has {plural(keyless, 'row')} without a KEY, which cannot be joined",
                hint="have the site leave such rows out in a (SELECT …) source",
                code="key",
            )
        distinct = exp.Distinct(expressions=[_column(key)])
        persons[part.alias] = _count(engine, part.table, distinct)
        more = _count(engine, part.table, exp.Star()) - persons[part.alias]
        if more:
            repeating.append((part, more))
    if len(repeating) > 1:
        part, more = repeating[1]
        raise BindError(
            f"both '{repeating[0][0].path}' and '{part.path}' have persons with several rows",
            hint="rows would be multiplied: only one of the files may have several rows per person",
            code="key",
        )
    return persons


def _count(engine: Engine, table: exp.Expr, what: exp.Expr) -> int:
    query = exp.select(exp.alias_(exp.Count(this=what), "n")).from_(table)
    return int(engine.query(query).column("n")[0].as_py())


def _mean(part: Part, column: PartColumn) -> exp.Expr:
    number = exp.cast(_column(column.name), "DOUBLE")
    return exp.select(exp.Avg(this=number)).from_(part.table).subquery()


def _mode(part: Part, column: PartColumn) -> exp.Expr:
    """Return the most frequent value; of several, the least."""
    return (
        exp.select(_column(column.name))
        .from_(part.table)
        .where(_column(column.name).is_(exp.null()).not_())
        .group_by(_column(column.name))
        .order_by(exp.Ordered(this=exp.Count(this=exp.Star()), desc=True), _column(column.name))
        .limit(1)
        .subquery()
    )


def _not_affine(column: PartColumn) -> list[str]:
    others = [word for word in column.treatments if not traits_of(word).is_affine]
    if not others:
        return []
    words = chain(others)
    return [f"{column.name}: the mean that was filled in is only approximate after {words}"]


@dataclass(frozen=True, slots=True)
class _Study:
    """What is written: rows, their columns, what is to be said, and of which agreement."""

    rows: exp.Query
    columns: tuple[PartColumn, ...]
    notes: tuple[str, ...]
    agreement: str
    accepted: str | None


def _write(engine: Engine, first: Part, study: _Study, to: Path) -> Combined:
    name = first.release
    target = target_of(Place(str(to)), [name])
    comments = {
        column.name.text: ", ".join((column.role, chain(column.treatments)))
        for column in study.columns
    }
    rows = exp.select("*").from_(study.rows.subquery("study"))
    with workplace(target.parent) as place:
        destination = DatabaseFile(engine, place / target.name)
        with destination, engine.transaction():
            count = _count(engine, study.rows.subquery("study"), exp.Star())
            info: Info = {
                "release": str(name),
                "version": None,
                "published_at": datetime.now(UTC).replace(tzinfo=None, microsecond=0),
                "rows": count,
                "treatments": ", ".join(
                    f"{column.name}: {chain(column.treatments)}" for column in study.columns
                ),
                "targets": None,
                "publication": new_name(),
                "agreement": study.agreement,
                "accepted": study.accepted,
            }
            destination.write(name, rows, comments, info)
        destination.complete()
        destination.put(target)
    return Combined(str(name), count, study.notes)


def _column(name: Name) -> exp.Column:
    return exp.column(_quoted(name))


def _quoted(name: Name) -> exp.Identifier:
    return exp.to_identifier(name.text, quoted=True)


def _named(value: exp.Expr, name: Name) -> exp.Expr:
    return exp.alias_(value, _quoted(name))
