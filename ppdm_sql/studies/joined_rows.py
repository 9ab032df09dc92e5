"""What the rows of a person show when they are joined: which laboratory value is of which visit.

Rows that name the same thing by a released pseudonym are joined by whoever has the file. So what a
row shows is refined, round by round, by what the rows show that it is joined to, until nothing more
is told apart by it; persons are alike where all their rows are. Only rows of one person are joined
here. (Color refinement: it tells everything apart but some rows that are joined in circles.)
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.lifecycle.make_version import meeting
from ppdm_sql.publish.shown_by_person import SHOWN, person_of, what_a_row_shows
from ppdm_sql.publish.snapshot import PERSON, ROWS
from ppdm_sql.studies.kept_beside import child_column, parent_column

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
    """Return the columns of a snapshot that name something else than the person, and what they meet.

    Released pseudonyms; and what refers to another release, or is referred to, under any treatment
    that leaves equal values equal: by the originals, which stand beside the rows.
    """
    version = snapshot.version
    release = version.release
    person = release.key.whose if release.key is not None else ""
    found = [
        (rule.names[0].text, meets)
        for rule in release.released_rules
        if (meets := meeting(rule)) is not None and rule.columns[0].whose != person
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
    links = max(len(joining_columns(study, one)) for one in everything)
    rows = [
        _rows(study, at, one, links, (without or {}).get(at)) for at, one in enumerate(snapshots)
    ]
    rows += [
        _rows(study, at, one, links, None, shows=False)
        for at, one in enumerate(connecting, start=len(snapshots))
    ]
    with _settled(snapshots[0].version.engine, _all(rows), links) as settled:
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
    while True:
        named_by = [
            [meets for _, meets in joining_columns(study, one)] for one in (*snapshots, *kept)
        ]
        times = Counter(chain(*named_by))
        ends = [
            one
            for one, own in zip(kept, named_by[len(snapshots) :], strict=True)
            if sum(times[meets] > 1 for meets in own) < _ENDS
        ]
        if not ends:
            return kept
        kept = [one for one in kept if one not in ends]


@contextmanager
def _settled(engine: Engine, rows: exp.Query, links: int) -> Iterator[QualifiedName]:
    """Pass on what rows show until that tells no more rows apart.

    Where no row names two things, nothing comes further than to those that name the same one.
    """
    with ExitStack() as stack:
        first = exp.select("*").from_(rows.subquery(_BEFORE))
        table = stack.enter_context(engine.temporary_table(_TEMPORARY, first))
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


def _rows(
    study: Study, at: int, snapshot: Snapshot, links: int, without: Name | None, shows: bool = True
) -> exp.Select:
    """Return what the rows of a table show, and hashes of what they name."""
    person = person_of(ROWS)
    shown: dict[str, exp.Expr] = {
        _TABLE: exp.Literal.number(at),
        _WHO: _hash(person),
        _SHOWN: _hash(what_a_row_shows(snapshot, without) if shows else exp.Literal.string("")),
    }
    for place, (name, meets) in enumerate(joining_columns(study, snapshot)):
        value = exp.cast(column_of(name, ROWS), "VARCHAR")
        named_thing = _hash(exp.Literal.string(meets), value, person.copy())
        is_known = exp.Not(this=exp.Is(this=value.copy(), expression=exp.null()))
        shown[_link(place)] = exp.case().when(is_known, named_thing)
    for place in range(len(shown) - 3, links):
        shown[_link(place)] = exp.cast(exp.null(), "UBIGINT", dialect="duckdb")
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
