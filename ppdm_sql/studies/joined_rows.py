"""What the rows of a person show when they are joined: which laboratory value is of which visit.

Rows that name the same thing by a released pseudonym are joined by whoever has the file. So what a
row shows is refined, round by round, by what the rows show that it is joined to, until nothing more
is told apart by it; persons are alike where all their rows are. Only rows of one person are joined
here. (Color refinement: it tells everything apart but some rows that are joined in circles.)
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from itertools import chain, combinations
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.language.syntax import Role
from ppdm_sql.lifecycle.make_version import meeting
from ppdm_sql.publish.shown_by_person import SHOWN, person_of, what_a_row_shows
from ppdm_sql.publish.snapshot import PERSON, ROWS
from ppdm_sql.studies.kept_beside import (
    child_column,
    other_column,
    other_persons,
    parent_column,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.studies.study import Study

_ENDS = 2
"""Things that a row must name to lead from one to another."""
_TEMPORARY = "ppdm_joined"
_WHO, _SHOWN, _TIMES, _TABLE, _VALUE = "who", "shown", "n", "tbl", "value"
_BEFORE = "b"


def joining_columns(study: Study, snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return the columns of a snapshot that name something beside whose a row is, and what they meet.

    Released pseudonyms; and what refers to another release, or is referred to, under any treatment
    that leaves equal values equal: by the originals, which stand beside the rows.
    """
    version = snapshot.version
    release = version.release
    person = release.key.whose if release.key is not None else ""
    found = [
        (rule.names[0].text, meets)
        for rule in release.released_rules
        if rule.role is not Role.KEY and (meets := meeting(rule)) is not None
    ]
    for at, one in enumerate(study.references):
        if one.column.whose == person or not one.is_joinable:
            continue
        meets = f"{one.parent} {one.key.name.folded}"
        if one.child == version.entry.name:
            found.append((child_column(at), meets))
        elif one.parent == version.entry.name and (parent_column(at), meets) not in found:
            known = {met for _, met in found}
            found += [(parent_column(at), meets)] if meets not in known else []
    return found


def are_joined(study: Study, snapshots: Sequence[Snapshot]) -> bool:
    """Whether rows of one person can be joined by something else than who they are about."""
    return any(joining_columns(study, one) for one in snapshots)


@contextmanager
def joined_by_person(
    study: Study,
    snapshots: Sequence[Snapshot],
    without: Mapping[int, Name] | None = None,
    connecting: Sequence[Snapshot] = (),
) -> Iterator[exp.Select]:
    """Give each person with a number for what their joined rows show.

    Rows of `connecting` tables are joined through, and show nothing themselves.

    Everything is a hash of 64 bits, and what several rows show the sum of theirs: it has no order,
    so that nothing is sorted. Rows of a person that show the same are one row with a count.
    """
    connecting = _between(study, snapshots, connecting)
    everything = [*snapshots, *connecting]
    most = max(len(joining_columns(study, one)) for one in everything)
    links = most + most * (most - 1) // 2
    rows = [
        _rows(study, at, one, most, (without or {}).get(at)) for at, one in enumerate(snapshots)
    ]
    rows += [
        _rows(study, at, one, most, None, shows=False)
        for at, one in enumerate(connecting, start=len(snapshots))
    ]
    engine = snapshots[0].version.engine
    first = exp.select("*").from_(_all(rows).subquery(_BEFORE))
    through = most if connecting else 0
    with (
        _pruned(engine, first, through, len(snapshots)) as pruned,
        _settled(engine, pruned, links) as settled,
    ):
        is_asked = exp.LT(this=_column(_TABLE), expression=exp.Literal.number(len(snapshots)))
        persons = exp.select(_WHO, named(_summed(_of_row()), _SHOWN)).from_(table_of(settled))
        persons = persons.where(is_asked).group_by(_WHO)
        names = [
            exp.select(named(person_of(ROWS), PERSON)).distinct().from_(one.rows())
            for one in snapshots
        ]
        owners = exp.select(_column(PERSON), named(_hash(_column(PERSON)), _WHO)).distinct()
        owners = owners.from_(_all(names).subquery("everybody"))
        on = exp.EQ(this=column_of(_WHO, "o"), expression=column_of(_WHO, "p"))
        query = exp.select(column_of(PERSON, "o"), named(column_of(_SHOWN, "p"), SHOWN))
        yield query.from_(owners.subquery("o")).join(persons.subquery("p"), on=on)


def _between(
    study: Study, snapshots: Sequence[Snapshot], connecting: Sequence[Snapshot]
) -> list[Snapshot]:
    """Return the tables that lead from one thing to another, without those at an end."""
    kept = list(connecting)
    repeated = {
        id(one): {meets for name, meets in joining_columns(study, one) if _is_repeated(one, name)}
        for one in kept
    }
    while True:
        named_by = [
            [meets for _, meets in joining_columns(study, one)] for one in (*snapshots, *kept)
        ]
        times = Counter(chain(*named_by))
        ends = [
            one
            for one, own in zip(kept, named_by[len(snapshots) :], strict=True)
            if sum(times[meets] > 1 or meets in repeated[id(one)] for meets in own) < _ENDS
        ]
        if not ends:
            return kept
        kept = [one for one in kept if one not in ends]


def _is_repeated(snapshot: Snapshot, name: str) -> bool:
    """Whether two rows of one person name the same thing."""
    value = column_of(name, ROWS)
    pair = exp.func("ROW", person_of(ROWS), value, dialect="duckdb")
    is_known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
    distinct = exp.Count(this=exp.Distinct(expressions=[pair]))
    differ = exp.LT(this=distinct, expression=exp.Count(this=exp.Star()))
    query = exp.select(named(differ, "differ")).from_(snapshot.rows()).where(is_known)
    return bool(snapshot.version.engine.query(query).column("differ")[0].as_py())


@contextmanager
def _pruned(engine: Engine, rows: exp.Select, most: int, asked: int) -> Iterator[exp.Select]:
    """Give the rows, without those of connecting tables that lead nowhere: from one thing only."""
    if most < _ENDS:
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
            leads = exp.GTE(this=exp.paren(used), expression=exp.Literal.number(_ENDS))
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
def _settled(engine: Engine, rows: exp.Select, links: int) -> Iterator[QualifiedName]:
    """Pass on what rows show until that tells no more rows apart.

    Where no row names two things, nothing comes further than to those that name the same one.
    """
    with ExitStack() as stack:
        table = stack.enter_context(engine.temporary_table(_TEMPORARY, rows))
        different = _different(engine, table) if links >= _ENDS else 0
        while True:
            things = _things(table, links)
            refined = _refined(table, links).with_("things", as_=things, materialized=True)
            with stack.pop_all():  # what was shown before goes when the rest is there
                table = stack.enter_context(engine.temporary_table(_TEMPORARY, refined))
            if links < _ENDS:
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


def _links(columns: list[tuple[str, str]], most: int) -> list[tuple[tuple[str, str], ...]]:
    """Return what rows are joined by: each column, at `most` of them, and each two of them at once."""
    ordered = sorted(columns, key=lambda one: one[1])
    nothing: list[tuple[tuple[str, str], ...]] = [()] * (most - len(columns))
    return [*((one,) for one in columns), *nothing, *combinations(ordered, 2)]


def _rows(
    study: Study, at: int, snapshot: Snapshot, most: int, without: Name | None, shows: bool = True
) -> exp.Select:
    """Return what the rows of a table show, and hashes of what they name."""
    person = person_of(ROWS)
    shown: dict[str, exp.Expr] = {
        _TABLE: exp.Literal.number(at),
        _WHO: _hash(person),
        _SHOWN: _hash(
            what_a_row_shows(snapshot, without) if shows else exp.Literal.string(""),
            *(
                exp.EQ(this=column_of(other_column(place), ROWS), expression=person.copy())
                for place, _ in enumerate(other_persons(snapshot.version))
            ),
        ),
    }
    for place, things in enumerate(_links(joining_columns(study, snapshot), most)):
        values = [exp.cast(column_of(name, ROWS), "VARCHAR") for name, _ in things]
        words = [exp.Literal.string(meets) for _, meets in things]
        is_known = exp.and_(
            exp.true(),
            *(exp.Not(this=exp.Is(this=value.copy(), expression=exp.null())) for value in values),
        )
        named_thing = _hash(*words, *values, person.copy())
        shown[_link(place)] = exp.case().when(is_known, named_thing) if things else _nothing()
    for place in range(len(shown) - 3, most + most * (most - 1) // 2):
        shown[_link(place)] = _nothing()
    keys = list(shown.values())
    select = exp.select(*(named(tree, name) for name, tree in shown.items()))
    select = select.select(named(exp.Count(this=exp.Star()), _TIMES)).from_(snapshot.rows())
    return select.group_by(*(tree.copy() for tree in keys[1:]))


def _things(table: QualifiedName, links: int) -> exp.Select:
    """Return what is shown of each thing by the rows that name it."""
    naming = []
    for place in range(links):
        link = _column(_link(place))
        part = exp.select(named(link, _VALUE), named(exp.Literal.number(place), "place"))
        part = part.select(_TABLE, _SHOWN, _TIMES).from_(table_of(table))
        naming.append(part.where(exp.Not(this=exp.Is(this=link.copy(), expression=exp.null()))))
    total = _summed(_hash(_column(_TABLE), _column("place"), _column(_SHOWN)))
    select = exp.select(_VALUE, named(total, _SHOWN))
    return select.from_(_all(naming).subquery("naming")).group_by(_VALUE)


def _refined(table: QualifiedName, links: int) -> exp.Select:
    """Return what rows show together with what is shown of the things that they name."""
    things = [f"t{place}" for place in range(links)]
    shown = _hash(column_of(_SHOWN, _BEFORE), *(column_of(_SHOWN, one) for one in things))
    kept = [_TABLE, _WHO, _TIMES, *(_link(place) for place in range(links))]
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
