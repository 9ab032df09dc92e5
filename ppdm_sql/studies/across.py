"""What the rows of a person show together, over several tables: who shares it, and what sets apart."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.publish.shown_by_person import SHOWN, person_of, quasi_columns, shown_by_person
from ppdm_sql.publish.snapshot import PERSON, ROWS
from ppdm_sql.studies.joined_rows import joined_by_person
from ppdm_sql.studies.joining import are_joined
from ppdm_sql.studies.kept_beside import sensitive_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.names import Name
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.studies.study import Study, StudyTarget

_ALL, _COUNT, _ROW, _WHO = "a", "n", "r", "who"


@dataclass(frozen=True)
class Across:
    """The rows of several releases, put together by person."""

    study: Study
    snapshots: Sequence[Snapshot]
    connecting: Sequence[Snapshot] = ()
    """Releases that rows are joined through, although they are not asked for."""
    joins: bool = True
    """Whether it counts which row is joined to which; without that, persons only look more alike."""

    @property
    def is_joined(self) -> bool:
        """Whether rows of a person are joined by more than the person."""
        return self.joins and are_joined(self.study, self.snapshots)

    def _places(self) -> range:
        return range(1 if self.is_joined else len(self.snapshots))

    @contextmanager
    def persons_below(
        self, k: int, without: tuple[Snapshot, Name] | None = None
    ) -> Iterator[exp.Select]:
        """Give the persons who share all that they show with fewer than k, themselves included.

        `without` leaves a column out, to see what it tells.
        """
        with self._together(without) as together:
            is_small = exp.LT(this=column_of(_COUNT, _ALL), expression=_number(k))
            rows = self._sized(together).subquery(_quoted(_ALL))
            yield exp.select(column_of(PERSON, _ALL)).from_(rows).where(is_small)

    def least(self) -> int:
        """Return the fewest persons who show the same; 0 where nobody is left."""
        least = exp.select(named(exp.Min(this=column_of(_COUNT, _ALL)), _COUNT))
        with self._together(None) as together:
            query = least.from_(self._sized(together).subquery(_quoted(_ALL)))
            found = self.snapshots[0].version.engine.query(query.where(_is_somebody()))
        return int(found.column(_COUNT)[0].as_py() or 0)

    def below(self, k: int, without: tuple[Snapshot, Name] | None = None) -> int:
        """Count the persons who share all that they show with fewer than k."""
        count = exp.select(named(exp.Count(this=exp.Star()), _COUNT))
        with self.persons_below(k, without) as persons:
            query = count.from_(persons.subquery(_quoted(_ALL))).where(_is_somebody())
            found = self.snapshots[0].version.engine.query(query)
        return int(found.column(_COUNT)[0].as_py())

    @contextmanager
    def persons_alike(self, at: int, target: StudyTarget) -> Iterator[exp.Select]:
        """Give the persons in classes where rows that show the same have fewer than l values.

        Not all values of a class are counted: a ward may say which of them a row has.
        """
        place = next(
            place
            for place, one in enumerate(self.snapshots)
            if one.version.entry.name == target.release
        )
        with joined_by_person(
            self.study, self.snapshots, None, self.connecting, (place, sensitive_column(at))
        ) as joined:
            persons, rows = (
                joined.persons.subquery(_quoted(_ALL)),
                joined.rows.subquery(_quoted(_ROW)),
            )
            same = exp.EQ(this=column_of(_WHO, _ALL), expression=column_of(_WHO, _ROW))
            different = exp.Count(this=exp.Distinct(expressions=[column_of("sensitive", _ROW)]))
            few = exp.select(column_of(SHOWN, _ALL)).distinct().from_(persons)
            few = few.join(rows, on=same).group_by(column_of(SHOWN, _ALL), column_of("row", _ROW))
            few = few.having(exp.LT(this=different, expression=_number(int(target.clause.value))))
            is_in = exp.In(this=column_of(SHOWN, _ALL), query=few.subquery())
            yield exp.select(column_of(PERSON, _ALL)).from_(persons.copy()).where(is_in)

    def _sized(self, together: exp.Select) -> exp.Select:
        """Return each person with how many show the same."""
        shown = [column_of(_shown(index), _ALL) for index in self._places()]
        # Rows of nobody are no person: they fill up no class.
        size = exp.Window(this=exp.Count(this=column_of(PERSON, _ALL)), partition_by=shown)
        rows = together.subquery(_quoted(_ALL))
        return exp.select(column_of(PERSON, _ALL), named(size, _COUNT)).from_(rows)

    @contextmanager
    def _together(self, without: tuple[Snapshot, Name] | None) -> Iterator[exp.Select]:
        """Give each person with what each release shows of them; NULL where it has no row."""
        if not self.is_joined:
            yield self._side_by_side(without)
            return
        left_out = {
            at: without[1]
            for at, one in enumerate(self.snapshots)
            if without is not None and without[0] is one
        }
        with joined_by_person(self.study, self.snapshots, left_out, self.connecting) as joined:
            select = exp.select(column_of(PERSON, _ALL), named(column_of(SHOWN, _ALL), _shown(0)))
            yield select.from_(joined.persons.subquery(_quoted(_ALL)))

    def _side_by_side(self, without: tuple[Snapshot, Name] | None) -> exp.Select:
        everybody: exp.Query | None = None
        for snapshot in (*self.snapshots, *self.connecting):
            rows = exp.select(named(person_of(ROWS), PERSON)).distinct().from_(snapshot.rows())
            everybody = rows if everybody is None else exp.union(everybody, rows, distinct=True)
        assert everybody is not None
        select = exp.select(column_of(PERSON, _ALL)).from_(everybody.subquery(_quoted(_ALL)))
        for index, snapshot in enumerate(self.snapshots):
            left = without[1] if without is not None and without[0] is snapshot else None
            alias = f"s{index}"
            each = shown_by_person(snapshot, left).subquery(_quoted(alias))
            select = select.join(each, on=_same(_ALL, alias), join_type="left")
            select = select.select(named(column_of(SHOWN, alias), _shown(index)))
        return select


def apart(across: Across, k: int) -> tuple[str, str]:
    """Return which column sets most persons apart, and what to write about it."""
    hint = "generalize further, lower k, or leave more persons out"
    if k < 2:
        return "", hint
    columns = [(one, name) for one in across.snapshots for name in quasi_columns(one)]
    if not columns:
        return ": how many rows a person has sets them apart", (
            "write AT MOST 5 ROWS PER patient behind a release"
        )
    everybody = across.below(k)
    fewest, at = min((across.below(k, column), at) for at, column in enumerate(columns))
    if fewest >= everybody:
        return ": no column alone sets them apart", hint
    snapshot, name = columns[at]
    release, person = snapshot.version.entry.name, across.study.statement.person
    what = f": '{name}' of {release} sets most of them apart"
    told = f"{everybody:,} share what they show with too few, {fewest:,} without it"
    fewer = [
        f"{one.version.entry.name} AT MOST {fewer_rows(across.study, one)} ROWS PER {person}"
        for one in across.snapshots
        if has_several(one)
    ]
    rows = (
        f"write {' or '.join(fewer)} where the number of rows tells people apart; " if fewer else ""
    )
    return f"{what} ({told})", f"release '{name}' coarser, or leave it out; {rows}or lower k"


def fewer_rows(study: Study, snapshot: Snapshot) -> int:
    """Return how many rows of a person to try: fewer than now."""
    most = study.most_rows(snapshot.version.entry.name)
    return 5 if most is None else max(most - 1, 1)


def has_several(snapshot: Snapshot) -> bool:
    """Whether somebody has more than one row."""
    distinct = exp.Count(this=exp.Distinct(expressions=[column_of(PERSON, ROWS)]))
    several = exp.LT(this=distinct, expression=exp.Count(this=column_of(PERSON, ROWS)))
    query = exp.select(named(several, _COUNT)).from_(snapshot.rows())
    return bool(snapshot.version.engine.query(query).column(_COUNT)[0].as_py())


def _is_somebody() -> exp.Expr:
    """Rows of which nobody knows whose they are are no person's in a figure."""
    return exp.Not(this=exp.Is(this=column_of(PERSON, _ALL), expression=exp.null()))


def _shown(index: int) -> str:
    return f"ppdm_shown_{index}"


def _same(one: str, other: str) -> exp.Expr:
    return exp.NullSafeEQ(this=column_of(PERSON, one), expression=column_of(PERSON, other))


def _quoted(text: str) -> exp.Identifier:
    return exp.to_identifier(text, quoted=True)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)
