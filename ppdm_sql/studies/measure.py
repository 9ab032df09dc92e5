"""What a study discloses, measured on the rows as they would go out: risks, attacks over joins, utility.

All by persons and by plain SQL. What all rows of a person show together is what matters: whoever
holds the publication joins its tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.publish.shown_by_person import person_of, quasi_columns
from ppdm_sql.publish.snapshot import PERSON, ROWS
from ppdm_sql.release.compile import source_table
from ppdm_sql.studies.across import Across
from ppdm_sql.studies.kept_beside import kept_column
from ppdm_sql.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.studies.study import Study

RISK, ATTACK, UTILITY = "risk", "attack", "utility"
MOST_SAMPLED = 500
_COUNT, _ALL, _SAMPLE = "n", "a", "p"
_TIMES = (Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class Measuring:
    """A study and its rows."""

    study: Study
    snapshots: Sequence[Snapshot]
    persons: int
    """Of all sources."""

    def figures(self) -> Iterator[Figure]:
        """Return everything that is measured."""
        yield from self._together()
        yield from self._apart()
        yield from self._attacks()
        yield from self._utility()

    def _together(self) -> Iterator[Figure]:
        whole = Across(self.study, self.snapshots)
        yield Figure(
            RISK, "k_study", "", whole.least(),
            "the fewest persons of whom all tables together show the same",
        )  # fmt: skip
        yield self._share(
            RISK, "unique_study", "", whole.below(2), "of whom nobody else shows the same"
        )
        for target in self.study.targets:
            if target.column is None:
                asked = [self._of(name) for name in self.study.across]
                others = [one for one in self.snapshots if one not in asked]
                across = Across(self.study, asked, others)
                names = ", ".join(map(str, self.study.across))
                yield Figure(
                    RISK, "k_across", names, across.least(),
                    f"the fewest persons of whom these tables show the same; promised: {target}",
                )  # fmt: skip

    def _apart(self) -> Iterator[Figure]:
        """Which table gives people away: alone, and by what it adds to the others."""
        for snapshot in self.snapshots:
            name = str(snapshot.version.entry.name)
            alone = Across(self.study, [snapshot]).below(2)
            yield self._share(
                RISK, "unique_alone", name, alone, "alone in what this table shows of them"
            )
            others = [one for one in self.snapshots if one is not snapshot]
            if others:
                left = Across(self.study, others).below(2)
                yield self._share(
                    RISK, "unique_without", name, left, "alone in all tables without this one"
                )
            for column in quasi_columns(snapshot):
                whole = Across(self.study, self.snapshots)
                left = whole.below(2, (snapshot, column))
                about = f"{name}.{column}"
                yield self._share(
                    RISK, "unique_without", about, left, "alone in all tables without this column"
                )

    def _attacks(self) -> Iterator[Figure]:
        """What somebody finds who knows a little of a person in every table."""
        counts = self._alone(self._row_counts())
        yield self._share(
            ATTACK, "row_counts", "", counts, "found by how many rows they have in each table",
        )  # fmt: skip
        intervals = self._intervals()
        if intervals is not None:
            yield self._share(
                ATTACK, "intervals", "", self._alone(intervals),
                "found by the days between their dates, which are kept",
            )  # fmt: skip
        found = self._one_row()
        if found is not None:
            yield Figure(
                ATTACK, "one_row", "", found,
                "the chance to find a person of whom one row of each table is known, drawing by lot"
                " among those who fit",
            )  # fmt: skip

    def _utility(self) -> Iterator[Figure]:
        left = self._number(self._distinct_persons())
        yield self._share(UTILITY, "persons_kept", "", left, "in what goes out")
        for snapshot in self.snapshots:
            name = str(snapshot.version.entry.name)
            total = self._count(exp.select("*").from_(self._source(snapshot)))
            kept = snapshot.count()
            yield Figure(UTILITY, "rows_kept", name, kept / total if total else None,
                         "the share of the rows that goes out", total)  # fmt: skip
        for one in self.study.references:
            child, parent = self._of(one.child), self._of(one.parent)
            joined = _joined(
                child.rows(), column_of(kept_column(one.column.name), ROWS),
                parent.rows(), kept_column(one.key.name),
            )  # fmt: skip
            before = _joined(
                self._source(child), column_of(one.column.name.text, ROWS),
                self._source(parent), one.key.name.text,
            )  # fmt: skip
            total = self._number(before)
            yield Figure(UTILITY, "joins_kept", f"{one.child}.{one.name}",
                         self._number(joined) / total if total else None,
                         f"the share of the pairs with {one.parent} that can still be joined", total)  # fmt: skip

    def _of(self, name: object) -> Snapshot:
        return next(one for one in self.snapshots if one.version.entry.name == name)

    def _source(self, snapshot: Snapshot) -> exp.Expr:
        return source_table(snapshot.version.release.source, ROWS)

    def _share(self, part: str, name: str, about: str, persons: int, what: str) -> Figure:
        value = persons / self.persons if self.persons else None
        return Figure(part, name, about, value, f"the share of the persons {what}", self.persons)

    def _row_counts(self) -> exp.Select:
        """Return each person with how many rows each table has of them."""
        select = exp.select(column_of(PERSON, _ALL)).from_(_subquery(self._everybody(), _ALL))
        for at, snapshot in enumerate(self.snapshots):
            alias = f"s{at}"
            rows = exp.select(
                named(person_of(ROWS), PERSON), named(exp.Count(this=exp.Star()), _COUNT)
            )
            rows = rows.from_(snapshot.rows()).group_by(person_of(ROWS))
            select = select.join(_subquery(rows, alias), on=_same(_ALL, alias), join_type="left")
            select = select.select(named(column_of(_COUNT, alias), f"shown_{at}"))
        return select

    def _intervals(self) -> exp.Select | None:
        """Return each person with the days between their dates, over all tables; None without any."""
        dates: exp.Query | None = None
        for snapshot in self.snapshots:
            for rule in snapshot.version.release.released_rules:
                for name, type_ in zip(rule.names, rule.output_types, strict=True):
                    if type_.kind not in _TIMES or not _keeps_intervals(rule):
                        continue
                    date = exp.cast(column_of(name.text, ROWS), "DATE")
                    rows = exp.select(named(person_of(ROWS), PERSON), named(date, "day"))
                    moved = exp.Literal.string(_moved_by(rule))
                    rows = rows.select(named(moved, "moved"))
                    rows = rows.from_(snapshot.rows()).where(
                        exp.Not(this=exp.Is(this=date.copy(), expression=exp.null()))
                    )
                    dates = rows if dates is None else exp.union(dates, rows, distinct=False)
        if dates is None:
            return None
        day = column_of("day", ROWS)
        # Dates that were moved apart say nothing of the days between them.
        together = [column_of(PERSON, ROWS), column_of("moved", ROWS)]
        first = exp.Window(this=exp.Min(this=day), partition_by=together)
        days = exp.cast(exp.paren(exp.Sub(this=day.copy(), expression=first)), "VARCHAR")
        apart = exp.DPipe(this=column_of("moved", ROWS), expression=days)
        rows = exp.select(column_of(PERSON, ROWS), named(apart, "apart")).from_(
            _subquery(dates, ROWS)
        )
        listed = exp.func(
            "LIST_SORT", exp.ArrayAgg(this=column_of("apart", ROWS)), dialect="duckdb"
        )
        select = exp.select(column_of(PERSON, ROWS), named(listed, "shown_0"))
        return select.from_(_subquery(rows, ROWS)).group_by(column_of(PERSON, ROWS))

    def _alone(self, persons: exp.Select) -> int:
        """Count the persons whom nobody is like, in everything but who they are."""
        names = [tree.alias_or_name for tree in persons.expressions if tree.alias_or_name != PERSON]
        alike = exp.select(named(exp.Count(this=exp.Star()), _COUNT))
        is_somebody = exp.Not(this=exp.Is(this=column_of(PERSON, ROWS), expression=exp.null()))
        alike = (
            alike.from_(_subquery(persons, ROWS))
            .where(is_somebody)
            .group_by(*(column_of(n, ROWS) for n in names))
        )
        one = exp.EQ(this=column_of(_COUNT, ROWS), expression=exp.Literal.number(1))
        return self._count(exp.select("*").from_(_subquery(alike, ROWS)).where(one))

    def _one_row(self) -> float | None:
        """Return the mean of 1 / n over a sample, n being those who fit one row of each table."""
        known = [one for one in self.snapshots if quasi_columns(one)]
        if not known:
            return None
        order = exp.func("HASH", column_of(PERSON, _ALL), dialect="duckdb")
        sample = exp.select(column_of(PERSON, _ALL)).from_(_subquery(self._everybody(), _ALL))
        sample = sample.where(
            exp.Not(this=exp.Is(this=column_of(PERSON, _ALL), expression=exp.null()))
        )
        sample = sample.order_by(order).limit(MOST_SAMPLED)
        fits: exp.Select = exp.select(named(column_of(PERSON, _SAMPLE), "target"))
        fits = fits.from_(_subquery(sample, _SAMPLE))
        fits = fits.join(_subquery(self._everybody(), _ALL), join_type="cross")
        for at, snapshot in enumerate(known):
            one, like = f"k{at}", f"l{at}"
            row = exp.func("MIN", _row(snapshot))
            each = exp.select(named(person_of(ROWS), PERSON), named(row, "row"))
            each = each.from_(snapshot.rows()).group_by(person_of(ROWS))
            fits = fits.join(_subquery(each, one), on=_same(_SAMPLE, one), join_type="left")
            rows = exp.select(named(person_of(ROWS), PERSON), named(_row(snapshot), "row"))
            rows = rows.distinct().from_(snapshot.rows())
            on = exp.and_(
                _same(_ALL, like),
                exp.EQ(this=column_of("row", like), expression=column_of("row", one)),
            )
            fits = fits.join(_subquery(rows, like), on=on, join_type="left")
            is_unknown = exp.Is(this=column_of("row", one), expression=exp.null())
            is_found = exp.Not(this=exp.Is(this=column_of("row", like), expression=exp.null()))
            fits = fits.where(exp.or_(is_unknown, is_found))
        counted = exp.select(named(exp.Count(this=exp.Star()), _COUNT))
        counted = counted.from_(_subquery(fits, ROWS)).group_by(column_of("target", ROWS))
        chance = exp.Div(
            this=exp.Literal.number(1), expression=column_of(_COUNT, ROWS), typed=False
        )
        query = exp.select(named(exp.Avg(this=chance), _COUNT)).from_(_subquery(counted, ROWS))
        found = self.snapshots[0].version.engine.query(query).column(_COUNT)[0].as_py()
        return None if found is None else float(found)

    def _everybody(self) -> exp.Query:
        found: exp.Query | None = None
        for snapshot in self.snapshots:
            rows = exp.select(named(person_of(ROWS), PERSON)).distinct().from_(snapshot.rows())
            found = rows if found is None else exp.union(found, rows, distinct=True)
        assert found is not None
        return found

    def _distinct_persons(self) -> exp.Select:
        count = exp.Count(this=column_of(PERSON, _ALL))
        return exp.select(named(count, _COUNT)).from_(_subquery(self._everybody(), _ALL))

    def _count(self, rows: exp.Query) -> int:
        query = exp.select(named(exp.Count(this=exp.Star()), _COUNT))
        return self._number(query.from_(_subquery(rows, _ALL)))

    def _number(self, query: exp.Select) -> int:
        return int(self.snapshots[0].version.engine.query(query).column(_COUNT)[0].as_py())


def _joined(child: exp.Expr, reference: exp.Expr, parent: exp.Expr, key: str) -> exp.Select:
    """Return how many pairs a reference makes."""
    values = exp.select(named(exp.cast(reference, "VARCHAR"), "value")).from_(child)
    keys = exp.select(named(exp.cast(column_of(key, ROWS), "VARCHAR"), "value")).from_(parent)
    same = exp.EQ(this=column_of("value", "c"), expression=column_of("value", "k"))
    query = exp.select(named(exp.Count(this=exp.Star()), _COUNT)).from_(_subquery(values, "c"))
    return query.join(_subquery(keys, "k"), on=same)


def _row(snapshot: Snapshot) -> exp.Expr:
    cells = [exp.cast(column_of(name.text, ROWS), "VARCHAR") for name in quasi_columns(snapshot)]
    return exp.func("ROW", *cells, dialect="duckdb")


def _keeps_intervals(rule: BoundRule) -> bool:
    """Whether the time between two dates of a person is that of the originals."""
    return all(
        one.shows_originals or one.moves_by_constant or (one.uses_row_key and not one.adds_noise)
        for one in rule.traits
    )


def _moved_by(rule: BoundRule) -> str:
    """Return the same text for columns of dates that move together."""
    said = (step.treatment.drawn_for() for step in rule.steps if step.treatment.traits.uses_row_key)
    own = (
        ""
        if all(one.uses_row_key or one.shows_originals for one in rule.traits)
        else rule.names[0].text
    )
    return f"{' '.join(said)} {own}:"


def _same(one: str, other: str) -> exp.Expr:
    return exp.NullSafeEQ(this=column_of(PERSON, one), expression=column_of(PERSON, other))


def _subquery(rows: exp.Query, alias: str) -> exp.Subquery:
    return rows.subquery(exp.to_identifier(alias, quoted=True))
