"""Who is left out of a study: decided on the rows as they would go out, before any is written.

Whoever GENERALIZE suppresses in one table is left out of all. Whoever is then in a class that misses
a target, in one table or over all of them, is left out too, until nobody is. What refers to a row
that does not go out is not released.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of
from ppdm_sql.errors import Refused, plural
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.publish.shown_by_person import linked_k, persons_below
from ppdm_sql.publish.snapshot import PERSON, ROWS
from ppdm_sql.publish.target_check import missed_persons
from ppdm_sql.publish.write import Settled
from ppdm_sql.studies.across import Across, apart, has_several
from ppdm_sql.studies.kept_beside import (
    ORDER,
    carried,
    kept_column,
    originals,
    person_column,
)
from ppdm_sql.studies.persons import persons_of, suppressed
from ppdm_sql.studies.study import said_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.names import Name, QualifiedName
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.keys import RootKey
    from ppdm_sql.studies.study import Reference, Study

_OUT, _COUNT = "o", "n"
_KEY_BYTES = 16


@dataclass(frozen=True)
class LeavingOut:
    """What PUBLISH STUDY decides over all of its releases."""

    of: Study
    keys: RootKey
    span: Span | None = None

    @property
    def study(self) -> str:
        """Its name."""
        return self.of.name.text

    @property
    def linkable(self) -> str:
        """Whose pseudonyms it has, where the statement does not say."""
        return self.of.linkable

    def carried(self, version: Version) -> Mapping[str, exp.Expr]:
        """Return what must be kept beside the rows of a release."""
        return carried(self.of, version)

    def settle(self, snapshots: Sequence[Snapshot]) -> Settled:
        """Take rows out until nobody is in a class that misses a target."""
        engine = snapshots[0].version.engine
        with _table_of_persons(engine) as out:
            settling = _Settling(self.of, self.keys, snapshots, out, self.span)
            settling.run()
            return settling.said()


@contextmanager
def _table_of_persons(engine: Engine) -> Iterator[QualifiedName]:
    nobody = exp.select(named(exp.cast(exp.null(), "VARCHAR"), PERSON)).limit(0)
    with engine.temporary_table("ppdm_left_out", nobody) as table:
        yield table


@dataclass
class _Settling:
    """The rows of a study in the making."""

    study: Study
    keys: RootKey
    snapshots: Sequence[Snapshot]
    out: QualifiedName
    """The table of those who are left out."""
    span: Span | None

    def __post_init__(self) -> None:
        self.engine = self.snapshots[0].version.engine
        self.by_name = {one.version.entry.name: one for one in self.snapshots}
        self.rounds = 0
        self.warnings: list[str] = []
        self.is_counted = False
        """Whether no class over all tables misses a target, apart from those that are left out."""
        asked = [self.by_name[name] for name in self.study.across]
        others = [one for one in self.snapshots if one not in asked]
        self.across = Across(self.study, asked, others)
        # k over all rows of a person stays where it held; where it did not, that was accepted.
        self.linked = [
            (one, grouping.k)
            for one in self.snapshots
            if (grouping := find_grouping(one.version.release)) is not None
            and grouping.person is not None
            and grouping.k > 1
            and has_several(one)  # else, classes of rows are those of persons
            and linked_k(one) >= grouping.k
        ]

    def run(self) -> None:
        """Leave persons out, and rows, until all that is promised holds."""
        self.persons = persons_of(self.snapshots)
        for snapshot in self.snapshots:
            self._leave_out(suppressed(snapshot))
            self._keep_at_most(snapshot)
        self._check_share()
        while True:
            self.rounds += 1
            self._delete_rows()
            forgotten = sum(map(self._forget_persons, self.snapshots))
            forgotten += sum(map(self._forget, self.study.references))
            if not self._find_more(bool(forgotten)):
                break
        self.left = self._left()
        if self.left == self.persons:
            raise Refused(
                f"study '{self.study.name}': nobody would be left",
                self.span,
                "lower the targets, or generalize further; rows without a KEY are nobody's",
                code="too_few_persons",
            )

    def said(self) -> Settled:
        """Return what holds over all tables, and what is to be said."""
        study = self.study
        names = ", ".join(map(str, study.across))
        targets = [f"{one} across {names}" for one in study.targets]
        notes = []
        if self.left:
            share = self.left / self.persons
            notes.append(
                f"left out of all tables: {self.left:,} of {plural(self.persons, 'person')} ({share:.2%})"
            )
        nobody = exp.select("*").from_(table_of(self.out))
        if self._count(nobody) > self.left:
            notes.append("rows of which nobody knows whose they are are left out of all tables")
        promised = [find_grouping(one.version.release) for one in self.snapshots]
        k = max((one.k for one in promised if one is not None), default=1)
        warnings = [*said_of(study), *self.warnings]
        if study.k < 2 <= k and len(self.snapshots) > 1:  # the owner has not said how many
            least = Across(study, self.snapshots, joins=False).least()
            if least >= k:  # else that says enough, and is quickly counted
                least = Across(study, self.snapshots).least()
            if least < k:
                warnings.append(
                    f"study '{study.name}': a table promises k = {k}, but what all tables together show"
                    f" of a person is shared by {plural(least, 'person')} only, the person included:"
                    f" write UNTIL k = {k}"
                )
        return Settled(tuple(targets), tuple(warnings), tuple(notes))

    def _leave_out(self, persons: exp.Select | None) -> int:
        """Add persons to those who are left out; return how many are new."""
        if persons is None:
            return 0
        new = exp.select(exp.cast(column_of(PERSON, _OUT), "VARCHAR"))
        new = new.from_(persons.subquery(exp.to_identifier(_OUT, quoted=True)))
        known = exp.select(PERSON_COLUMN.copy()).from_(table_of(self.out))
        fresh = exp.except_(new, known, distinct=True)
        return self.engine.change(exp.Insert(this=table_of(self.out), expression=fresh))

    def _keep_at_most(self, snapshot: Snapshot) -> None:
        """Keep so many rows of a person, chosen by a secret key: the same ones every time."""
        most = self.study.most_rows(snapshot.version.entry.name)
        if most is None:
            return
        # Lent, because no secret is in the text of SQL.
        with self.engine.lend(pa.table({"key": [self._row_key(snapshot)]})) as lent:
            message = exp.DPipe(this=column_of("key", "k"), expression=column_of(ORDER, ROWS))
            digest = exp.SHA2(this=message, length=exp.Literal.number(256))
            number = exp.Window(
                this=exp.RowNumber(),
                partition_by=[column_of(PERSON, ROWS)],
                order=exp.Order(expressions=[exp.Ordered(this=digest)]),
            )
            kept = (
                exp.select(exp.Column(this=exp.Star(), table=exp.to_identifier(ROWS, quoted=True)))
                .from_(snapshot.rows())
                .join(table_of(lent, "k"), join_type="cross")
                .qualify(exp.LTE(this=number, expression=exp.Literal.number(most)))
            )
            self.engine.run(_replaced(snapshot.table, kept))

    def _row_key(self, snapshot: Snapshot) -> str:
        name = "\0".join(part.folded for part in snapshot.version.entry.name.parts)
        return self.keys.derive("rows of a person", name)[:_KEY_BYTES].hex()

    def _delete_rows(self) -> None:
        if not self._count(exp.select("*").from_(table_of(self.out))):
            return
        for snapshot in self.snapshots:
            is_out = exp.NullSafeEQ(
                this=column_of(PERSON, _OUT),
                expression=exp.cast(
                    exp.column(_name(PERSON), table=snapshot.table.name.text), "VARCHAR"
                ),
            )
            rows = exp.select(exp.Literal.number(1)).from_(table_of(self.out, _OUT)).where(is_out)
            where = exp.Where(this=exp.Exists(this=rows))
            self.engine.run(exp.Delete(this=table_of(snapshot.table), where=where))

    def _forget_persons(self, snapshot: Snapshot) -> int:
        """Make NULL what names somebody who is left out, also where no row of theirs is referred to."""
        forgotten = 0
        for column in self.study.naming[snapshot.version.entry.name].persons:
            out = exp.select(PERSON_COLUMN.copy()).from_(table_of(self.out))
            whom = exp.column(_name(person_column(column.original)))
            is_out = exp.In(this=whom.copy(), query=out.subquery())
            name = exp.column(_name(column.name.text))
            is_named = exp.Not(this=exp.Is(this=name.copy(), expression=exp.null()))
            forgotten += self.engine.change(
                exp.Update(
                    this=table_of(snapshot.table),
                    expressions=[
                        exp.EQ(this=one, expression=exp.null())
                        for one in (name, whom, *self._kept(snapshot, column.original))
                    ],
                    where=exp.Where(this=exp.and_(is_named, is_out)),
                )
            )
        return forgotten

    def _kept(self, snapshot: Snapshot, original: Name) -> Iterator[exp.Expr]:
        """Return where an original stands that is no longer named, if it is kept."""
        if original in originals(self.study, snapshot.version.entry.name):
            yield exp.column(_name(kept_column(original)))

    def _there(self, reference: Reference) -> exp.Query:
        """Return what a release can refer to in what goes out, of whichever release."""
        there: exp.Query | None = None
        for one in self.study.references:
            if (one.child, one.name) == (reference.child, reference.name):
                parent = self.by_name[one.parent]
                key = column_of(kept_column(one.key.name), ROWS)
                here = exp.select(key).from_(parent.rows())
                here = here.where(exp.Not(this=exp.Is(this=key.copy(), expression=exp.null())))
                there = here if there is None else exp.union(there, here, distinct=False)
        assert there is not None
        return there

    def _forget(self, reference: Reference) -> int:
        """Make a reference NULL where the row that it names does not go out; count those."""
        child = self.by_name[reference.child]
        kept = exp.column(_name(kept_column(reference.column.name)))
        is_known = exp.Not(this=exp.Is(this=kept.copy(), expression=exp.null()))
        is_there = exp.In(this=kept.copy(), query=self._there(reference).subquery())
        update = exp.Update(
            this=table_of(child.table),
            expressions=[
                exp.EQ(this=exp.column(_name(reference.name.text)), expression=exp.null()),
                exp.EQ(this=kept, expression=exp.null()),
            ],
            where=exp.Where(this=exp.and_(is_known, exp.Not(this=is_there))),
        )
        known = self._count(exp.select("*").from_(table_of(child.table)).where(is_known.copy()))
        forgotten = self.engine.change(update)
        if self.rounds == 1 and forgotten == known > 0:
            self.warnings.append(
                f"study '{self.study.name}': no value of '{reference.name}' of {reference.child} is found in"
                f" '{reference.key.name}' of {reference.parent}: all of them are NULL; if they should be, cast"
                " one of the two to the type of the other in a (SELECT …) source"
            )
        return forgotten

    def _find_more(self, is_changed: bool) -> bool:
        """Leave out who is in a class that misses a target by now; return whether there is any.

        Over all tables whole classes are left out, which makes no other class smaller: they are
        counted again where rows changed, or others were left out, since.
        """
        self.is_counted = self.is_counted and not is_changed
        new = sum(self._leave_out(query) for one in self.snapshots for query in missed_persons(one))
        new += sum(self._leave_out(persons_below(one, k)) for one, k in self.linked)
        if new:
            self.is_counted = False
        elif not self.is_counted:
            new = self._find_across()
            self.is_counted = True
        if new:
            self._check_share()
        return bool(new)

    def _find_across(self) -> int:
        new = 0
        for at, target in enumerate(self.study.targets):
            found = (
                self.across.persons_below(int(target.clause.value))
                if target.column is None
                else self.across.persons_alike(at, target)
            )
            with found as persons:
                new += self._leave_out(persons)
        return new

    def _check_share(self) -> None:
        """Raise where more persons are left out than the study allows."""
        if self.study.statement.across is None:
            return
        left = self._left()
        if 100 * left <= self.study.percent * self.persons:
            return
        what, hint = apart(self.across, self.study.k)
        if self.rounds == 0:
            what = ": the tables suppress as many"
            hint = "write SUPPRESS AT MOST n PERCENT, or generalize the tables further"
        if self.rounds > 1:
            # By now rows are gone, so that no column can be tried any more.
            what = ": each round of leaving out makes other classes too small"
        raise Refused(
            f"study '{self.study.name}': {left / self.persons:.1%} of the persons would be left out,"
            f" more than {self.study.percent:g}%{what}",
            self.span,
            hint,
            code="target_missed",
        )

    def _left(self) -> int:
        """Return how many persons are left out by now; rows of nobody are no person."""
        return self._number_of(exp.select(PERSON_COLUMN.copy()).from_(table_of(self.out)))

    def _number_of(self, persons: exp.Select) -> int:
        is_known = exp.Not(this=exp.Is(this=PERSON_COLUMN.copy(), expression=exp.null()))
        return self._count(persons.where(is_known))

    def _count(self, rows: exp.Query) -> int:
        query = exp.select(named(exp.Count(this=exp.Star()), _COUNT))
        query = query.from_(rows.subquery(exp.to_identifier(ROWS, quoted=True)))
        return int(self.engine.query(query).column(_COUNT)[0].as_py())


def _name(text: str) -> exp.Identifier:
    return exp.to_identifier(text, quoted=True)


PERSON_COLUMN = exp.column(_name(PERSON))


def _replaced(table: QualifiedName, rows: exp.Select) -> exp.Create:
    temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
    return exp.Create(
        this=table_of(table), kind="TABLE", expression=rows, properties=temporary, replace=True
    )
