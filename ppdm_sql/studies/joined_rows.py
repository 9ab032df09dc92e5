"""What the rows of a person show when they are joined: which laboratory value is of which visit.

Rows that name the same thing by a released pseudonym are joined by whoever has the file. So what a
row shows is refined, round by round, by what the rows show that it is joined to, until nothing more
is told apart by it; persons are alike where all their rows are. Only rows of one person are joined
here. (Color refinement: it tells everything apart but some rows that are joined in circles.)
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.publish.shown_by_person import SHOWN, person_of, what_a_row_shows
from ppdm_sql.publish.snapshot import PERSON, ROWS
from ppdm_sql.studies.joining import ENDS, Links, alike, between, several, turned, used
from ppdm_sql.studies.kept_beside import person_column
from ppdm_sql.studies.spelling import comparable
from ppdm_sql.types import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.studies.joining import Column
    from ppdm_sql.studies.study import Study

_TEMPORARY = "ppdm_joined"
_WHO, _SHOWN, _TIMES, _TABLE, _VALUE = "who", "shown", "n", "tbl", "value"
_SENSITIVE, _ROW = "sensitive", "row"
_BEFORE = "b"


@dataclass(frozen=True, slots=True)
class Joined:
    """What persons show, and what each of their rows does."""

    persons: exp.Select
    """Each person, a number for the person, and one for what their joined rows show."""
    rows: exp.Select
    """The number of a person, one for what a row shows, and one for its sensitive value."""


@contextmanager
def joined_by_person(
    study: Study,
    snapshots: Sequence[Snapshot],
    without: Mapping[int, Name] | None = None,
    connecting: Sequence[Snapshot] = (),
    sensitive: tuple[int, str] | None = None,
) -> Iterator[Joined]:
    """Give each person with a number for what their joined rows show.

    Rows of `connecting` tables are joined through, and show nothing themselves. `sensitive` is the
    place of a table and a column of it whose values are kept beside what its rows show.

    Everything is a hash of 64 bits, and what several rows show the sum of theirs: it has no order,
    so that nothing is sorted. Rows of a person that show the same are one row with a count.
    """
    everybody = [*snapshots, *connecting]
    tables = used(study, snapshots, between(study, snapshots, connecting))
    links = Links.of([columns for _, columns in tables])
    rows = []
    for at, (snapshot, columns) in enumerate(tables):
        is_asked = at < len(snapshots)
        value = sensitive[1] if sensitive is not None and sensitive[0] == at else None
        left = (without or {}).get(at)
        shown = what_a_row_shows(snapshot, left) if is_asked else exp.Literal.string("")
        rows.append(_rows(study, at, snapshot, columns, links, shown, value))
    engine = snapshots[0].version.engine
    first = exp.select("*").from_(_all(rows).subquery(_BEFORE))
    through = links.single if len(tables) > len(snapshots) else 0
    with (
        _pruned(engine, first, through, len(snapshots)) as pruned,
        _settled(engine, pruned, links) as settled,
    ):
        asked = exp.LT(this=_column(_TABLE), expression=exp.Literal.number(len(snapshots)))
        persons = exp.select(_WHO, named(_summed(_of_row()), _SHOWN)).from_(table_of(settled))
        persons = persons.where(asked).group_by(_WHO)
        # As they are: numbers are told apart faster than texts.
        names = [exp.select(column_of(PERSON, ROWS)).from_(one.rows()) for one in everybody]
        each = exp.select(_column(PERSON)).distinct().from_(_all(names).subquery("everybody"))
        person = exp.cast(_column(PERSON), "VARCHAR")
        owners = exp.select(named(person, PERSON), named(_hash(person.copy()), _WHO))
        owners = owners.from_(each.subquery("each"))
        on = exp.EQ(this=column_of(_WHO, "o"), expression=column_of(_WHO, "p"))
        query = exp.select(
            column_of(PERSON, "o"), column_of(_WHO, "o"), named(column_of(_SHOWN, "p"), SHOWN)
        )
        # Whom the tables say nothing of is in a class with those of whom they say nothing, too.
        query = query.from_(owners.subquery("o")).join(
            persons.subquery("p"), on=on, join_type="left"
        )
        of_rows = exp.select(_WHO, named(_of_row(), _ROW), _SENSITIVE).from_(table_of(settled))
        place = exp.Literal.number(sensitive[0] if sensitive is not None else -1)
        yield Joined(query, of_rows.where(exp.EQ(this=_column(_TABLE), expression=place)))


@contextmanager
def _pruned(engine: Engine, rows: exp.Select, most: int, asked: int) -> Iterator[exp.Select]:
    """Give the rows, without those of connecting tables that lead nowhere: from one thing only."""
    if most < ENDS:
        yield rows
        return
    with ExitStack() as stack:
        table = stack.enter_context(engine.temporary_table(_TEMPORARY, rows))
        while True:
            things = _named_by(table, most)
            is_used = [
                exp.cast(
                    exp.GT(this=column_of(_TIMES, f"t{at}"), expression=exp.Literal.number(1)),
                    "INT",
                )
                for at in range(most)
            ]
            used: exp.Expr = exp.Literal.number(0)
            for one in is_used:
                counted = exp.Coalesce(this=one, expressions=[exp.Literal.number(0)])
                used = exp.Add(this=used, expression=counted)
            leads = exp.GTE(this=exp.paren(used), expression=exp.Literal.number(ENDS))
            is_asked = exp.LT(this=column_of(_TABLE, _BEFORE), expression=exp.Literal.number(asked))
            whole = exp.Column(this=exp.Star(), table=exp.to_identifier(_BEFORE, quoted=True))
            kept = exp.select(whole).from_(table_of(table, _BEFORE))
            for at in range(most):
                alias = f"t{at}"
                on = exp.EQ(this=column_of(_VALUE, alias), expression=column_of(_link(at), _BEFORE))
                thing = exp.alias_(exp.to_table("things"), alias, table=True)
                kept = kept.join(thing, on=on, join_type="left")
            kept = kept.where(exp.or_(is_asked, leads)).with_(
                "things", as_=things, materialized=True
            )
            before = _count(engine, table)
            with stack.pop_all():
                table = stack.enter_context(engine.temporary_table(_TEMPORARY, kept))
            if _count(engine, table) == before:
                break
        yield exp.select("*").from_(table_of(table))


def _named_by(table: QualifiedName, most: int) -> exp.Select:
    """Return how many rows name each thing."""
    naming = []
    for at in range(most):
        link = _column(_link(at))
        part = exp.select(named(link, _VALUE), _TIMES).from_(table_of(table))
        naming.append(part.where(exp.Not(this=exp.Is(this=link.copy(), expression=exp.null()))))
    total = exp.Sum(this=_column(_TIMES))
    select = exp.select(_VALUE, named(total, _TIMES))
    return select.from_(_all(naming).subquery("naming")).group_by(_VALUE)


def _count(engine: Engine, table: QualifiedName) -> int:
    query = exp.select(named(exp.Count(this=exp.Star()), _TIMES)).from_(table_of(table))
    return int(engine.query(query).column(_TIMES)[0].as_py())


@contextmanager
def _settled(engine: Engine, rows: exp.Select, links: Links) -> Iterator[QualifiedName]:
    """Pass on what rows show until that tells no more rows apart.

    Where no row names two things, nothing comes further than to those that name the same one.
    """
    with ExitStack() as stack:
        table = stack.enter_context(engine.temporary_table(_TEMPORARY, rows))
        is_far = links.count >= ENDS
        different = _different(engine, table) if is_far else 0
        while links.count:
            things = _things(table, links.count)
            refined = _refined(table, links).with_("things", as_=things, materialized=True)
            with stack.pop_all():  # what was shown before goes when the rest is there
                table = stack.enter_context(engine.temporary_table(_TEMPORARY, refined))
            if not is_far:
                break
            before, different = different, _different(engine, table)
            if different == before:
                break
        yield table


def _different(engine: Engine, table: QualifiedName) -> int:
    """Count rows that show something different."""
    query = exp.select(named(exp.Count(this=exp.Distinct(expressions=[_of_row()])), _TIMES))
    return int(engine.query(query.from_(table_of(table))).column(_TIMES)[0].as_py())


def _of_row() -> exp.Expr:
    return _hash(_column(_TABLE), _column(_SHOWN))


def _rows(
    study: Study,
    at: int,
    snapshot: Snapshot,
    columns: Sequence[Column],
    links: Links,
    cells: exp.Expr,
    value: str | None,
) -> exp.Select:
    """Return what the rows of a table show, and hashes of what they name."""
    person = person_of(ROWS)
    others = study.naming[snapshot.version.entry.name].persons
    seen: list[exp.Expr] = [
        exp.EQ(this=column_of(person_column(one.original), ROWS), expression=person.copy())
        for one in others
    ]
    # What a row names twice can be seen in it.
    types = {name: ColumnType(type_) for name, type_ in snapshot.columns}
    seen += [
        exp.EQ(this=_text(one, types), expression=_text(two, types))
        for (one, _), (two, _) in alike(columns)
    ]
    shown: dict[str, exp.Expr] = {
        _TABLE: exp.Literal.number(at),
        _WHO: _hash(person),
        _SHOWN: _hash(cells, *seen),
        _SENSITIVE: _nothing() if value is None else _hash(column_of(value, ROWS)),
    }
    named_by = [
        *_filled([(one,) for one in columns], links.single),
        *_filled(several(columns), links.several),
        *_filled(turned(columns), links.turned),
    ]
    for place, things in enumerate(named_by):
        shown[_link(place)] = _thing(things, person, types) if things else _nothing()
    keys = list(shown.values())
    select = exp.select(*(named(tree, name) for name, tree in shown.items()))
    select = select.select(named(exp.Count(this=exp.Star()), _TIMES)).from_(snapshot.rows())
    return select.group_by(*(tree.copy() for tree in keys[1:]))


def _filled(things: Sequence[tuple[Column, ...]], count: int) -> list[tuple[Column, ...]]:
    return [*things, *([()] * (count - len(things)))]


def _thing(things: Sequence[Column], person: exp.Expr, types: Mapping[str, ColumnType]) -> exp.Expr:
    """Return a hash of what a row of a person names; NULL where it does not name all of it."""
    values = [_text(name, types) for name, _ in things]
    words = [exp.Literal.string(meets) for _, meets in things]
    are_known = (exp.Not(this=exp.Is(this=value.copy(), expression=exp.null())) for value in values)
    return exp.case().when(exp.and_(*are_known), _hash(*words, *values, person.copy()))


def _text(name: str, types: Mapping[str, ColumnType]) -> exp.Expr:
    """Return what a column names as text: as it is released, or as its original is kept."""
    value = column_of(name, ROWS)
    return comparable(value, types[name]) if name in types else exp.cast(value, "VARCHAR")


def _things(table: QualifiedName, links: int) -> exp.Select:
    """Return what is shown of each thing by the rows that name it."""
    naming = []
    for place in range(links):
        link = _column(_link(place))
        part = exp.select(named(link, _VALUE), named(exp.Literal.number(place), "place"))
        part = part.select(_TABLE, _SHOWN, _TIMES).from_(table_of(table))
        naming.append(part.where(exp.Not(this=exp.Is(this=link.copy(), expression=exp.null()))))
    total = _summed(_hash(_column(_TABLE), _column("place"), _column(_SHOWN)))
    select = exp.select(_VALUE, named(total, _SHOWN), named(exp.Sum(this=_column(_TIMES)), _TIMES))
    return select.from_(_all(naming).subquery("naming")).group_by(_VALUE)


def _refined(table: QualifiedName, links: Links) -> exp.Select:
    """Return what rows show together with what is shown of the things that they name."""
    places = range(links.count + links.turned)
    things = [f"t{place}" for place in places]
    # What one row alone names joins nothing, as if it named nothing; turned, it is another row's.
    own = [
        exp.case().when(
            exp.GT(this=column_of(_TIMES, one), expression=exp.Literal.number(1)),
            column_of(_SHOWN, one),
        )
        for one in things[: links.count]
    ]
    others = [column_of(_SHOWN, one) for one in things[links.count :]]
    shown = _hash(column_of(_SHOWN, _BEFORE), *own, *others)
    kept = [_TABLE, _WHO, _TIMES, _SENSITIVE, *map(_link, places)]
    select = exp.select(*(column_of(name, _BEFORE) for name in kept), named(shown, _SHOWN))
    select = select.from_(table_of(table, _BEFORE))
    for place, alias in enumerate(things):
        thing = exp.alias_(exp.to_table("things"), alias, table=True)
        on = exp.EQ(this=column_of(_VALUE, alias), expression=column_of(_link(place), _BEFORE))
        select = select.join(thing, on=on, join_type="left")
    return select


def _nothing() -> exp.Expr:
    return exp.cast(exp.null(), "UBIGINT", dialect="duckdb")


def _hash(*values: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="hash", expressions=list(values))


def _summed(hashed: exp.Expr) -> exp.Expr:
    """Return the sum over rows, each as often as it stands there."""
    wide = exp.cast(hashed, "INT128")
    return exp.Sum(this=exp.Mul(this=wide, expression=_column(_TIMES)))


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _link(place: int) -> str:
    return f"link{place}"


def _all(queries: Sequence[exp.Select]) -> exp.Query:
    found: exp.Query = queries[0]
    for query in queries[1:]:
        found = exp.union(found, query, distinct=False)
    return found
