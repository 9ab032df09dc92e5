"""What the rows of a person show when they are joined: which laboratory value is of which visit.

Rows that name the same thing by a released pseudonym are joined by whoever has the file. So what a
row shows is refined, round by round, by what the rows show that it is joined to; persons are alike
where all their rows are. Only rows of one person are joined here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.lifecycle.make_version import meeting
from ppdm_sql.publish.shown_by_person import SHOWN, person_of, what_a_row_shows
from ppdm_sql.publish.snapshot import PERSON, ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.names import Name
    from ppdm_sql.publish.snapshot import Snapshot

_MOST_ROUNDS = 4


def _parsed(text: str) -> exp.Select:
    tree = sqlglot.parse_one(text, dialect="duckdb")
    assert isinstance(tree, exp.Select)
    return tree


# What several rows show is the sum of their hashes, 64 bits each in 128: it has no order, and so
# needs no sorting.
_THINGS = _parsed("""
    SELECT l.person, l.value, sum(hash(r.tbl || r.shown)::HUGEINT)::VARCHAR AS shown
    FROM links AS l JOIN before AS r ON l.tbl = r.tbl AND l.id = r.id
    GROUP BY l.person, l.value""")
_REFINED = _parsed("""
    SELECT r.tbl, r.id, r.person,
        r.shown || '/' || coalesce(sum(hash(l.place || t.shown)::HUGEINT)::VARCHAR, '') AS shown
    FROM before AS r LEFT JOIN links AS l ON l.tbl = r.tbl AND l.id = r.id
    LEFT JOIN things AS t ON t.person IS NOT DISTINCT FROM l.person AND t.value = l.value
    GROUP BY r.tbl, r.id, r.person, r.shown""")
_PERSONS = _parsed("""
    SELECT person, sum(hash(tbl || shown)::HUGEINT)::VARCHAR AS shown FROM before GROUP BY person""")


def joining_columns(snapshot: Snapshot) -> list[tuple[Name, str]]:
    """Return the released columns that name something else than the person, and what they meet."""
    release = snapshot.version.release
    person = release.key.whose if release.key is not None else ""
    return [
        (rule.names[0], meets)
        for rule in release.released_rules
        if (meets := meeting(rule)) is not None and rule.columns[0].whose != person
    ]


def are_joined(snapshots: Sequence[Snapshot]) -> bool:
    """Whether rows of one person can be joined by something else than who they are about."""
    return any(joining_columns(one) for one in snapshots)


def joined_by_person(
    snapshots: Sequence[Snapshot], without: Mapping[int, Name] | None = None
) -> exp.Select:
    """Return each person with the list of what their joined rows show."""
    rows: list[exp.Select] = []
    links: list[exp.Select] = []
    query = exp.select(
        named(column_of("person", "before"), PERSON), named(column_of("shown", "before"), SHOWN)
    )
    for at, snapshot in enumerate(snapshots):
        columns = joining_columns(snapshot)
        shown = {
            "person": person_of(ROWS),
            "id": exp.Window(this=exp.RowNumber()),
            "shown": what_a_row_shows(snapshot, (without or {}).get(at)),
            **{f"link{n}": column_of(name.text, ROWS) for n, (name, _) in enumerate(columns)},
        }
        base = exp.select(*(named(tree, name) for name, tree in shown.items()))
        query = query.with_(f"base{at}", as_=base.from_(snapshot.rows()), materialized=True)
        tbl = exp.Literal.string(f"{at}:")
        rows.append(
            exp.select(named(tbl, "tbl"), "id", "person", "shown").from_(exp.to_table(f"base{at}"))
        )
        for n, (_, meets) in enumerate(columns):
            value = exp.DPipe(
                this=exp.Literal.string(f"{meets}:"), expression=exp.column(f"link{n}")
            )
            place = exp.Literal.string(f"{n}:")
            link = exp.select(named(tbl.copy(), "tbl"), "id", "person", named(place, "place"))
            link = link.select(named(value, "value")).from_(exp.to_table(f"base{at}"))
            is_known = exp.Not(this=exp.Is(this=exp.column(f"link{n}"), expression=exp.null()))
            links.append(link.where(is_known))
    query = query.with_("round0", as_=_all(rows), materialized=True)
    query = query.with_("links", as_=_all(links), materialized=True)
    rounds = min(max(len(snapshots) - 1, 1), _MOST_ROUNDS)
    for number in range(rounds):
        before = f"round{number}"
        query = query.with_(f"things{number}", as_=_over(_THINGS, before, ""), materialized=True)
        refined = _over(_REFINED, before, f"things{number}")
        query = query.with_(f"round{number + 1}", as_=refined, materialized=True)
    persons = _over(_PERSONS, f"round{rounds}", "")
    return query.from_(persons.subquery("before"))


def _over(template: exp.Select, before: str, things: str) -> exp.Select:
    names = {"before": before, "things": things}
    query = template.copy()
    for table in query.find_all(exp.Table):
        if table.name in names:
            alias = table.alias or table.name
            table.replace(exp.alias_(exp.to_table(names[table.name]), alias, table=True))
    return query


def _all(queries: Sequence[exp.Select]) -> exp.Query:
    found: exp.Query = queries[0]
    for query in queries[1:]:
        found = exp.union(found, query, distinct=False)
    return found
