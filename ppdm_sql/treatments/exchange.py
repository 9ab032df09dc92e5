"""What `shuffle()` and `rank_swap()` share: rows get values of other rows, kept in a table.

The table says for every row and its value whose value is shown. A row that is new, or whose value
has become another, is NULL until the next refresh, which gives it the value of one of the rows
there were: what was released stays as it is, and a single new row does not get its own value back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural
from ppdm_sql.parameters import Drawn
from ppdm_sql.randomness.permutation import secret_permutation
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import as_text, count_where
from ppdm_sql.treatments.numbers import computable, count_of, lost_rows, refuse_lost
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from ppdm_sql.names import Name
    from ppdm_sql.randomness.draws import Draws
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

    Places = npt.NDArray[np.intp]

_TABLE = "rows"
_MUCH = 0.1


def _within(given: Arguments, columns: Sequence[InputColumn]) -> Name | None:
    given.text("within", "any")  # a text, if there is one: which column it names, the release knows
    return columns[0].beside if "within" in given else None


WITHIN = ArgumentSpec("within", _within)


@dataclass(frozen=True, slots=True)
class Exchange(Treatment):
    """Every row gets the value of a row. The order of rows follows no key: it is drawn once."""

    def output_types(self) -> tuple[ColumnType, ...]:
        """Return text for an ENUM: its order and its words belong to the source."""
        (column,) = self.columns
        return (VARCHAR if column.type.kind is Kind.ENUM else column.type,)

    within: Name | None = field(repr=False)
    """The column of which only rows with equal values exchange theirs; None: all do."""

    def places(self, rows: pa.StructArray, draws: Draws) -> Places:
        """Return for each row the number of the row whose value it gets: each is taken once."""
        raise NotImplementedError  # every exchange has its own

    def places_of_new(self, pool: pa.Array, new: pa.StructArray, draws: Draws) -> Places:
        """Return for each new row a number in the pool of values, which may be taken again."""
        raise NotImplementedError  # every exchange has its own

    def row_statistics(
        self, inputs: Sequence[exp.Expr], row_key: exp.Expr
    ) -> Mapping[str, exp.Expr]:
        """Ask for the KEY and the value of every row."""
        cells = {"row": row_key, "original": self._text(inputs[0])}
        if self.within is not None:
            beside = exp.to_identifier(self.within.text, quoted=True)
            table = exp.to_identifier(inputs[0].args["table"].name, quoted=True)
            cells["within"] = as_text(exp.column(beside, table=table))
        row = exp.Struct(
            expressions=[
                exp.PropertyEQ(this=exp.to_identifier(name), expression=cell)
                for name, cell in cells.items()
            ]
        )
        return {"rows": exp.ArrayAgg(this=row)}

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Give every row a value; rows that have one keep it."""
        rows = self._rows_of(statistics.get("rows"))
        draws = keys.chance(self.drawn_for())
        if previous is None:
            released = rows.field("original").take(pa.array(self._dealt(rows, draws)))
            table = _table(rows, released)
        else:
            table = self._continued(previous.tables[_TABLE], rows, draws)
        # Nobody computes with it: it tells two exchanges of one column apart in the ledger.
        mark = previous.parameters["mark"] if previous else draws.source.take(8).hex()
        # The order of rows on disk must not be that of the source.
        shuffled = table.take(pa.array(secret_permutation(len(table))))
        return Drawn({"mark": mark}, {_TABLE: shuffled})

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the value that the joined table gives."""
        keys = {"row": scope.row_key(), "original": self._text(inputs[0])}
        (type_,) = self.output_types()
        return (exp.cast(scope.join(_TABLE, keys)("released"), type_.text),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count rows that get nothing, and those that get a value like their own."""
        is_lost = exp.and_(inputs[0].is_(exp.null()).not_(), outputs[0].is_(exp.null()))
        is_same = exp.EQ(this=as_text(inputs[0].copy()), expression=as_text(outputs[0].copy()))
        return {
            **{f"odd_{k}": v for k, v in lost_rows(self.columns, inputs).items()},
            "lost": count_where(is_lost),
            "same": count_where(is_same),
            "values": exp.Count(this=outputs[0].copy()),
        }

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise where a row has no KEY; warn where many values stay."""
        name = self.columns[0].name
        refuse_lost(self.keyword, self.columns, {"lost": results.get("odd_lost")})
        if count_of(results, "lost"):
            raise TreatmentError(
                f"{self.keyword}: rows of '{name}' have no KEY",
                hint="leave such rows out in a (SELECT …) source",
                code="data_does_not_fit",
            )
        same, values = count_of(results, "same"), count_of(results, "values")
        if same <= _MUCH * values:
            return ()
        warning = (
            f"{self.keyword}: {plural(same, 'row')} of '{name}' ({same / values:.0%}) show a value like"
            " their own: there are few rows, or few different values"
        )
        return (warning,)

    def note(self, drawn: Drawn) -> str:
        """Say how many rows show a value like their own."""
        table = drawn.tables[_TABLE]
        stays = pc.sum(pc.equal(table.column("original"), table.column("released"))).as_py() or 0
        return f"{stays / max(len(table), 1):.1%} of the rows show a value like their own"

    def _text(self, value: exp.Expr) -> exp.Expr:
        """Return a value as text; NULL for what no treatment of numbers computes with."""
        (column,) = self.columns
        if column.type.kind is not Kind.FLOAT:
            return as_text(value)
        number = exp.paren(computable(column, value.copy()))
        return exp.case().when(number.is_(exp.null()).not_(), as_text(value))

    def _rows_of(self, cell: Any) -> pa.StructArray:
        """Return the rows that have a value; raise where two have one KEY."""
        rows = None if cell is None else cell.values
        if rows is None:
            more = {} if self.within is None else {"within": pa.string()}
            return pa.array([], pa.struct({"row": pa.int64(), "original": pa.string(), **more}))
        rows = rows.filter(pc.and_(rows.field("row").is_valid(), rows.field("original").is_valid()))
        twice = len(rows) - len(pc.unique(rows.field("row")))
        if twice:
            raise TreatmentError(
                f"{self.keyword}: {plural(twice, 'row')} of '{self.columns[0].name}' share a KEY with"
                " another row: nobody could tell whose value is whose",
                hint="release one row per person, or list as KEY what is unique",
                code="data_does_not_fit",
            )
        return rows

    def _dealt(self, rows: pa.StructArray, draws: Draws) -> Places:
        """Return whose value each row gets, group by group."""
        if self.within is None or not len(rows):
            return self.places(rows, draws)
        found = np.empty(len(rows), dtype=np.intp)
        alone = 0
        for members in _groups(rows.field("within")):
            alone += len(members) == 1
            if len(members) > 1:
                found[members] = members[self.places(rows.take(pa.array(members)), draws)]
        if alone:
            raise TreatmentError(
                f"{self.keyword}: {plural(alone, 'row')} of '{self.columns[0].name}'"
                f" {'is' if alone == 1 else 'are'} alone in '{self.within}': nobody has a value to exchange",
                hint="name a column with larger groups, or leave such rows out in a (SELECT …) source",
                code="data_does_not_fit",
            )
        return found

    def _dealt_later(self, old: pa.Table, new: pa.StructArray, draws: Draws) -> pa.Array:
        """Return what new rows get: of their group, where there was one."""
        pool = old.column("released").combine_chunks()
        if self.within is None:
            return pool.take(pa.array(self.places_of_new(pool, new, draws)))
        texts = pa.array([None] * len(new), pa.string())
        within = old.column("within").combine_chunks()
        for members in _groups(new.field("within")):
            rows = new.take(pa.array(members))
            of_group = pool.filter(pc.equal(within, rows.field("within")[0]))
            source = of_group if len(of_group) else pool
            values = source.take(pa.array(self.places_of_new(source, rows, draws)))
            is_member = np.isin(np.arange(len(new)), members)
            texts = pc.replace_with_mask(texts, pa.array(is_member), values)
        return texts

    def _continued(self, old: pa.Table, rows: pa.StructArray, draws: Draws) -> pa.Table:
        """Return the table with the rows that are new or have another value."""
        at = pc.index_in(rows.field("row"), value_set=old.column("row").combine_chunks())
        known = pc.equal(old.column("original").combine_chunks().take(at), rows.field("original"))
        new = rows.filter(pc.invert(pc.fill_null(known, False)))
        if not len(new):
            return old
        if not len(old):  # the release was made of an empty table
            return _table(new, new.field("original").take(pa.array(self._dealt(new, draws))))
        released = self._dealt_later(old, new, draws)
        changed = pc.is_in(old.column("row"), value_set=new.field("row"))
        kept = old.filter(pc.invert(changed))
        return pa.concat_tables([kept, _table(new, released).cast(kept.schema)])


def _table(rows: pa.StructArray, released: pa.Array) -> pa.Table:
    names = [field.name for field in rows.type]
    return pa.table({name: rows.field(name) for name in names} | {"released": released})


def _groups(within: pa.Array) -> Iterator[Places]:
    """Return the places of equal values, group by group; NULL is a group, too."""
    numbers = np.asarray(within.dictionary_encode(null_encoding="encode").indices)
    order = np.argsort(numbers, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
