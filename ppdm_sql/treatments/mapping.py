"""`mapping(prefix => 'Illness')`: every category becomes an alias; the table stays with the owner."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural, raise_alone
from ppdm_sql.parameters import Drawn
from ppdm_sql.randomness.permutation import secret_permutation
from ppdm_sql.treatments.arguments import ArgumentSpec, text
from ppdm_sql.treatments.expressions import as_text, comparison, literal_of
from ppdm_sql.treatments.kernels.keyed_name import pseudonym
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import ANY_KIND, Treatment
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping as Map
    from collections.abc import Sequence

    from ppdm_sql.language.syntax import Value
    from ppdm_sql.parameters import Parameter
    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

# Types that reach Arrow and come back as the same type; the others are compared as text.
_NATIVE = frozenset(["VARCHAR", "BOOLEAN", "DATE", "TINYINT", "SMALLINT", "INTEGER", "BIGINT"])
_MANY = 50
_TABLE = "aliases"
_TOKEN = 12
"""Hexadecimal digits of a keyed token: two of a million categories share one with probability 0.002."""
_WRITE_DOMAIN = "write domain => ['Flu', 'Cancer']"


def _read_domain(arguments: Arguments, _: Sequence[InputColumn]) -> tuple[Value, ...] | None:
    """Return the categories that are given; None: those of the column."""
    if "domain" not in arguments:
        return None
    domain = arguments.value("domain")
    if not isinstance(domain, tuple) or not domain:
        arguments.fail("domain", "'domain' must be a list of categories", _WRITE_DOMAIN)
    kinds = {type(value) for value in domain}
    if len(kinds) > 1 or not kinds <= {str, int, bool}:
        arguments.fail("domain", "the categories must be all texts or all numbers", _WRITE_DOMAIN)
    if len(set(domain)) < len(domain):
        arguments.fail("domain", "a category is listed twice")
    return domain


@dataclass(frozen=True, slots=True)
class Mapping(Treatment):
    """One alias a category, numbered in a random order; a category seen later is NULL.

    With a domain the categories are given, and no other may come. Under an agreement aliases do
    not depend on the categories that a site happens to have: those of a domain are numbered in an
    agreed order, and without one an alias is a keyed token.
    """

    keyword = "mapping"
    summary = "a category becomes an alias from a table only the owner has"
    reading = "an alias: where it is the same, the category is; its order means nothing"
    missing = "or a category that is new since the release was made"
    undone_by = "knowing how frequent the categories are"
    exactness = Exactness.EXACT
    traits = Traits(mixes_columns=False, has_secret_number=False, links_rows=False, renames=True)
    kinds = tuple(kind for kind in ANY_KIND if kind not in (Kind.FLOAT, Kind.OTHER))
    instead = "for measurements write graded_grouping()"
    arguments = (
        text("prefix", lambda column: column.name.text),
        ArgumentSpec("domain", _read_domain),
    )
    releases = VARCHAR
    not_agreed = None  # aliases follow from the key and the domain, or the category itself

    prefix: str = field(repr=False)
    domain: tuple[Value, ...] | None = field(repr=False)
    """None: the categories are those of the column."""

    @property
    def column(self) -> InputColumn:
        """The column."""
        return self.columns[0]

    def statistics(self, inputs: Sequence[exp.Expr]) -> Map[str, exp.Expr]:
        """Ask for the distinct categories."""
        key = self._key(inputs[0])
        return {
            "rows": exp.Count(this=key),
            "categories": exp.ArrayAgg(this=exp.Distinct(expressions=[key.copy()])),
        }

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Name the categories; those that have an alias keep it."""
        categories = _values(statistics["categories"]).drop_null()
        if self.domain is not None:
            categories = self._within(categories)
        old = previous.tables[_TABLE] if previous is not None else None
        if old is not None:
            known = old.column("original").combine_chunks().cast(categories.type)
            categories = categories.filter(pc.invert(pc.is_in(categories, value_set=known)))
        start = old.num_rows if old is not None else 0
        aliases = pc.binary_join_element_wise(
            self.prefix, self._names(categories, keys, start), "_"
        )
        new = pa.table({"original": categories, "released": aliases})
        table = new if old is None else pa.concat_tables([old.cast(new.schema), new])
        # The order of rows on disk must not be that of the aliases, nor of the source.
        return Drawn(tables={_TABLE: table.take(secret_permutation(table.num_rows))})

    def _within(self, categories: pa.Array) -> pa.Array:
        """Return the domain as the column's type has it; raise when the column goes beyond it."""
        try:
            domain = pa.array(self.domain).cast(categories.type)
        except (pa.ArrowException, TypeError):
            raise_alone(
                TreatmentError(
                    f"mapping: the domain does not fit '{self.column.name}' of type"
                    f" {self.column.type}",
                    code="data_does_not_fit",
                )
            )
        beyond = len(categories.filter(pc.invert(pc.is_in(categories, value_set=domain))))
        if beyond:
            raise TreatmentError(
                f"mapping: {plural(beyond, 'category', 'categories')} of '{self.column.name}' "
                f"{'is' if beyond == 1 else 'are'} not in its domain",
                hint="find them with SELECT DISTINCT; correct them in a (SELECT …) source, or widen "
                "the domain",
                code="data_does_not_fit",
            )
        return domain

    def _names(self, categories: pa.Array, keys: Keys, start: int) -> pa.Array:
        """Return what follows the prefix: a number, or a token that only the key gives."""
        if not keys.is_agreed or self.domain is not None:
            order = keys.chance(self.drawn_for()).permutation(len(categories))
            return pc.cast(pa.array(order + start + 1), pa.string())
        key = keys.derive("alias", self.column.identity).hex()
        texts = categories.cast(pa.string())
        names = pc.utf8_slice_codeunits(pseudonym(pa.repeat(key, len(texts)), texts), 0, _TOKEN)
        if len(pc.unique(names)) < len(names):
            raise TreatmentError(
                f"mapping: two categories of '{self.column.name}' would share an alias",
                hint="give the categories: domain => ['…', '…']",
                code="names_collide",
            )
        return names

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return the alias that the joined table gives."""
        return (scope.lookup(_TABLE, self._key(inputs[0])),)

    def verify(self, results: Statistics) -> Sequence[str]:
        """Warn when most categories stand for a single row."""
        distinct = len(_values(results["categories"]).drop_null())
        rows = int(results["rows"])
        if distinct <= _MANY or distinct * 2 <= rows:
            return ()
        warning = (
            f"mapping of '{self.column.name}': {distinct:,} categories in {plural(rows, 'row')}; "
            "aliases that are nearly unique single out rows as names do: "
            "consider IDENTIFIER or pseudonym()"
        )
        return (warning,)

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        """Return the categories of aliases."""
        table = drawn.tables[_TABLE]
        at = pc.index_in(
            outputs[0].cast(pa.string()),
            value_set=table.column("released").combine_chunks().cast(pa.string()),
        )
        return (table.column("original").combine_chunks().take(at),)

    def invert_condition(
        self,
        operator: str,
        literal: Parameter,
        columns: Sequence[exp.Expr],
        drawn: Drawn,
        index: int = 0,
    ) -> exp.Expr | None:
        """Rewrite an equality with a known alias; aliases have no order."""
        if operator not in ("=", "<>"):
            return None
        (original,) = self.invert((pa.array([str(literal)]),), drawn)
        if original.null_count:
            return None
        try:
            if operator == "=":
                return comparison(operator, columns[index], literal_of(original[0].as_py()))
            # A category that waits for a refresh is NULL: it differs from nothing.
            others = [
                literal_of(value)
                for value in drawn.tables[_TABLE].column("original").to_pylist()
                if value != original[0].as_py()
            ]
        except OverflowError:  # a day that is in DuckDB's calendar and not in Python's
            return None
        return exp.In(this=columns[index], expressions=others) if others else exp.false()

    def released_null(self, columns: Sequence[exp.Expr], drawn: Drawn, index: int = 0) -> exp.Expr:
        """Return where a category has no alias yet."""
        column = columns[index]
        no_value = column.is_(exp.null())
        known = drawn.tables[_TABLE].column("original")
        if not known.num_chunks or not len(known):
            return exp.true()
        try:
            listed = [literal_of(value) for value in known.to_pylist()]
        except OverflowError:  # a day that is in DuckDB's calendar and not in Python's
            return no_value
        return exp.or_(no_value, exp.not_(exp.In(this=column.copy(), expressions=listed)))

    def _key(self, column: exp.Expr) -> exp.Expr:
        if self.column.type.text not in _NATIVE:
            return as_text(column)
        # A column that ignores case would meet several aliases, and rows would multiply.
        binary = exp.to_identifier("C", quoted=True)
        is_text = self.column.type.kind is Kind.TEXT
        return exp.Collate(this=column, expression=binary) if is_text else column


def _values(cell: Any) -> pa.Array:
    """Return the values of a list cell; an empty table gives NULL."""
    values = cell.values
    if values is None:
        return pa.array([], pa.string())
    return values.cast(pa.string()) if pa.types.is_large_string(values.type) else values
