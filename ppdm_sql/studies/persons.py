"""Whose the rows of a study are: how many persons there are, and whom GENERALIZE leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.publish.shown_by_person import person_of
from ppdm_sql.publish.snapshot import PERSON, ROWS, STAR, exact
from ppdm_sql.release.compile import source_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.publish.snapshot import Snapshot

_COUNT = "n"


def persons_of(snapshots: Sequence[Snapshot]) -> int:
    """Count the persons of all sources."""
    found: exp.Query | None = None
    for snapshot in snapshots:
        key = snapshot.version.release.key
        assert key is not None  # a study has no release without one
        # As it is: numbers are told apart faster than texts, and all KEYs of a study are alike.
        whom = exact(column_of(key.name.text, ROWS), key.type)
        rows = exp.select(named(whom, PERSON)).distinct()
        rows = rows.from_(source_table(snapshot.version.release.source, ROWS))
        found = rows if found is None else exp.union(found, rows, distinct=True)
    assert found is not None
    # Rows of nobody are no person: NULL is not counted.
    query = exp.select(named(exp.Count(this=column_of(PERSON, ROWS)), _COUNT))
    query = query.from_(found.subquery(exp.to_identifier(ROWS, quoted=True)))
    return int(snapshots[0].version.engine.query(query).column(_COUNT)[0].as_py())


def _source_person(snapshot: Snapshot) -> exp.Expr:
    key = snapshot.version.release.key
    assert key is not None  # a study has no release without one
    return exact(exp.cast(column_of(key.name.text, ROWS), "VARCHAR"), key.type)


def suppressed(snapshot: Snapshot) -> exp.Select | None:
    """Return the persons of whom GENERALIZE shows fewer rows than the source has."""
    if find_grouping(snapshot.version.release) is None:
        return None
    person = _source_person(snapshot)
    source = source_table(snapshot.version.release.source, ROWS)
    had = exp.select(named(person, PERSON), named(exp.Count(this=exp.Star()), _COUNT))
    had = had.from_(source).group_by(person.copy())
    has = exp.select(named(person_of(ROWS), PERSON), named(exp.Count(this=exp.Star()), _COUNT))
    has = has.from_(snapshot.rows()).where(exp.Not(this=column_of(STAR, ROWS)))
    has = has.group_by(person_of(ROWS))
    before, after = (exp.to_identifier(one, quoted=True) for one in ("a", "b"))
    is_same = exp.NullSafeEQ(this=column_of(PERSON, "a"), expression=column_of(PERSON, "b"))
    shown = exp.Coalesce(this=column_of(_COUNT, "b"), expressions=[exp.Literal.number(0)])
    return (
        exp.select(column_of(PERSON, "a"))
        .from_(had.subquery(before))
        .join(has.subquery(after), on=is_same, join_type="left")
        .where(exp.LT(this=shown, expression=column_of(_COUNT, "a")))
    )
