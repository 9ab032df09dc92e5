"""Whose a column is: what a release says of it, or what the keys of the database say.

Asked once, when a release is made: the answer is written into its definition as OF and REFERENCES.
So a key that is declared later changes no pseudonym of a release that is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named, table_of, to_sql
from ppdm_sql.errors import BindError, suggest
from ppdm_sql.language.syntax import (
    ColumnName,
    ColumnRule,
    QuerySource,
    Reference,
    Role,
    TableSource,
)
from ppdm_sql.names import STORE_CATALOG, Name, QualifiedName
from ppdm_sql.release.ancestry import shown_columns
from ppdm_sql.release.compile import source_table
from ppdm_sql.release.lineage import (
    base_column,
    column_identity,
    is_unfollowed,
    parts_of_origin,
    table_of_origin,
)
from ppdm_sql.release.select_trees import parse_query, table_name
from ppdm_sql.release.source_names import resolve_source
from ppdm_sql.store import catalog
from ppdm_sql.treatments.protocol import ENTITY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import CreateRelease, Source
    from ppdm_sql.release.sources import Sources
    from ppdm_sql.store.catalog import ColumnEntry, KnownColumn
    from ppdm_sql.treatments.treatment import Treatment

_TABLE = "table:"
_ROWS, _STEP = "s", "ppdm_step_"


@dataclass(frozen=True, slots=True)
class _Step:
    """From one table to the next: the row with this value in `column`, then its `key`."""

    table: QualifiedName
    column: Name
    key: Name


def with_entities(
    statement: CreateRelease,
    engine: Engine,
    sources: Sources,
    treatments: Sequence[type[Treatment]],
) -> CreateRelease:
    """Return a release with everything written out that keys of the database say of its columns."""
    if any(option.name == "agreement" for option in statement.options):
        return statement  # there the names of columns say it
    words = {one.keyword for one in treatments if one.traits.draws_from_keys}
    return _Entities(statement, engine, sources, words).resolved()


@dataclass(frozen=True)
class _Entities:
    statement: CreateRelease
    engine: Engine
    sources: Sources
    words: set[str]
    """The treatments whose values meet equal ones of the same entity."""

    def resolved(self) -> CreateRelease:
        rules = tuple(self._resolved(rule) for rule in self.statement.rules)
        statement = replace(self.statement, rules=rules)
        for before, rule in zip(self.statement.rules, rules, strict=True):
            if rule.role is Role.KEY and rule.references is not None and before.entity is None:
                entity, path = self._path(before)
                return self._through(statement, rule, entity, path) if path else statement
        return statement

    @cached_property
    def _source(self) -> Source:
        return resolve_source(self.statement, self.sources)

    @cached_property
    def _columns(self) -> set[Name]:
        return {column.name for column in self.sources.columns(self._source)}

    @cached_property
    def _known(self) -> list[KnownColumn]:
        own = self.statement.name
        return [one for one in catalog.known_columns(self.engine) if one.release != own]

    def _resolved(self, rule: ColumnRule) -> ColumnRule:
        """Return a line with whose its column is."""
        if rule.references is not None:
            rule = replace(rule, references=self._completed(rule.references))
        joins = any(call.keyword in self.words for call in rule.treatments)
        is_said = any(
            argument.name == "entity" for call in rule.treatments for argument in call.arguments
        )
        is_named = joins or rule.entity is not None or rule.role is Role.KEY
        may_name = rule.role is not Role.IDENTIFIER and bool(self.sources.foreign_keys)
        if len(rule.columns) > 1 or is_said or not (is_named or may_name):
            return rule
        first = self._first(rule)
        if first is None:
            return rule
        root = self._root(first)
        if rule.entity is not None:
            return replace(rule, references=root)  # whose it is, its line says
        origin = base_column(root.table, root.column)
        given = {one.column.entity for one in self._known if one.column.identity == origin} - {None}
        given |= self._own_words(origin)
        word = given.pop() if len(given) == 1 else None
        if word is not None and word.startswith(ENTITY):
            # Its own release has given it a word: OF patient.
            return replace(rule, entity=Name(word.removeprefix(ENTITY)), references=root)
        return replace(rule, references=root)

    def _own_words(self, origin: str) -> set[str | None]:
        """Return the words that this statement gives to a column: rows may refer to rows beside them."""
        return {
            f"{ENTITY}{rule.entity.folded}"
            for rule in self.statement.rules
            if rule.entity is not None
            and rule.columns[0].name in self._columns
            and column_identity(self.sources, self._source, rule.columns[0].name) == origin
        }

    def _first(self, rule: ColumnRule) -> Reference | None:
        """Return what a column refers to: as its line says, or else its table."""
        if rule.references is not None:
            return self._completed(rule.references)
        column = rule.columns[0].name
        if column not in self._columns:
            return None  # binding says so
        identity = column_identity(self.sources, self._source, column)
        if not is_unfollowed(frozenset({identity})):
            return self._declared(identity)
        # JOIN … USING (column): it is the one of the tables that keys of the database lead to.
        shown = shown_columns(self.sources, self._source, column)
        ends = {base_column(*end): Reference(*end) for end in self.sources.foreign_keys.values()}
        found = {
            self._root(first)
            for one in shown
            if (first := self._declared(one) or ends.get(one)) is not None
        }
        is_name = any(call.keyword in self.words for call in rule.treatments)
        if not found and is_name and rule.role is not Role.KEY and len(shown) == 1:
            # Of one table, without any key: named as that table's own releases name it.
            return Reference(*parts_of_origin(next(iter(shown))))
        return found.pop() if len(found) == 1 else None

    def _declared(self, origin: str) -> Reference | None:
        found = self.sources.foreign_keys.get(origin)
        return None if found is None else Reference(*found)

    def _root(self, reference: Reference) -> Reference:
        """Return the column that a chain of references ends at; of a circle, always the same."""
        seen = {base_column(reference.table, reference.column): reference}
        while (found := self._declared(next(reversed(seen)))) is not None:
            origin = base_column(found.table, found.column)
            if origin in seen:
                return min(seen.items())[1]
            seen[origin] = found
        return next(reversed(seen.values()))

    def _completed(self, reference: Reference) -> Reference:
        """Return a reference with its table's full name; raise where there is no such column."""
        relation = self.sources.resolve(reference.table)
        if relation is None:
            raise BindError(
                f"there is no table or view '{reference.table}'",
                reference.span,
                suggest(str(reference.table), self.sources.relation_names(), "tables and views"),
                code="unknown_table",
            )
        columns = self.sources.columns(TableSource(relation.name, reference.span))
        if reference.column not in {column.name for column in columns}:
            raise BindError(
                f"there is no column '{reference.column}' in '{reference.table}'",
                reference.span,
                suggest(reference.column.text, (str(one.name) for one in columns), "columns"),
                code="unknown_column",
            )
        return replace(reference, table=relation.name)

    def _path(self, rule: ColumnRule) -> tuple[str | None, list[_Step]]:
        """Return whose a row is, and the tables on the way there; none where the KEY is the person's.

        What a row of another table is about, the release of that table says: its KEY.
        """
        first = self._first(rule)
        found = None if first is None else self._steps(first, ())
        return (None, []) if found is None else (found[0], list(found[1]))

    def _steps(
        self, reference: Reference, seen: tuple[str, ...]
    ) -> tuple[str, tuple[_Step, ...]] | None:
        """Return the entity that a row of a table is about, and the way there from one of its columns."""
        origin = base_column(reference.table, reference.column)
        table = table_of_origin(origin)
        keys = list(self._keys_of(table))
        if len({key.column.entity for key in keys}) != 1 or table in seen:
            return None
        key = keys[0].column
        assert key.identity is not None
        assert key.entity is not None
        if key.identity == origin:
            return key.entity, ()
        if table_of_origin(key.identity) == table:
            _, column = parts_of_origin(key.identity)
            return key.entity, (_Step(reference.table, reference.column, column),)
        ways = list(self._ways(table, key, reference, seen))
        return ways[0] if len(ways) == 1 else None  # of several, nobody knows which is meant

    def _ways(
        self, table: str, key: ColumnEntry, reference: Reference, seen: tuple[str, ...]
    ) -> Iterator[tuple[str, tuple[_Step, ...]]]:
        """Return how to come from a table to the column that its release has as KEY."""
        for origin, (there, column) in self._references_of(table).items():
            further = self._steps(Reference(there, column), (*seen, table))
            if further is None or further[0] != key.entity:
                continue
            last = further[1][-1] if further[1] else None
            end = origin if last is None else base_column(last.table, last.key)
            if end == key.identity:
                _, own = parts_of_origin(origin)
                yield further[0], (_Step(reference.table, reference.column, own), *further[1])

    def _references_of(self, table: str) -> dict[str, tuple[QualifiedName, Name]]:
        """Return what columns of a table refer to: by its releases, and by the database."""
        said = {
            one.column.identity: parts_of_origin(one.column.entity)
            for one in self._known
            if one.column.identity is not None
            and one.column.entity is not None
            and one.column.entity.startswith(_TABLE)
            and one.column.entity != one.column.identity
        }
        both = said | self.sources.foreign_keys
        return {origin: end for origin, end in both.items() if table_of_origin(origin) == table}

    def _keys_of(self, table: str) -> Iterator[KnownColumn]:
        """Return the KEYs of the releases of a table."""
        names = {
            one.release
            for one in self._known
            if table_of_origin(one.column.identity or "") == table
        }
        return (one for one in self._known if one.release in names and one.column.role is Role.KEY)

    def _through(
        self,
        statement: CreateRelease,
        rule: ColumnRule,
        entity: str | None,
        path: Sequence[_Step],
    ) -> CreateRelease:
        """Return a release whose KEY is the person's, found through other tables.

        What was listed as KEY stays a column like any other.
        """
        select = exp.select(
            exp.Column(this=exp.Star(), table=exp.to_identifier(_ROWS, quoted=True))
        )
        select = select.from_(source_table(self._source, _ROWS))
        before = column_of(rule.columns[0].name.text, _ROWS)
        for number, step in enumerate(path):
            self._check_unique(step, rule)
            alias = f"{_STEP}{number}"
            on = exp.EQ(this=before, expression=column_of(step.column.text, alias))
            select = select.join(table_of(step.table, alias), on=on, join_type="left")
            before = column_of(step.key.text, alias)
        last = path[-1]
        name = self._free_name(last)
        select = select.select(named(before, name.text))
        column = (ColumnName(name, rule.columns[0].span),)
        person = _about(ColumnRule(column, Role.KEY, span=rule.span), entity)
        other = [replace(rule, role=Role.NEUTRAL)] if rule.treatments else []
        rules = [
            one
            for each in statement.rules
            for one in ([person, *other] if each is rule else [each])
        ]
        source = QuerySource(to_sql(select), statement.source.span)
        return replace(statement, source=source, rules=tuple(rules))

    def _free_name(self, step: _Step) -> Name:
        others = (Name(f"{step.key.text}_{number}") for number in count(2))
        return next(name for name in chain((step.key,), others) if name not in self._columns)

    def _check_unique(self, step: _Step, rule: ColumnRule) -> None:
        """Raise where a value may be in several rows: each row would be released several times."""
        if self.sources.is_unique(step.table, step.column):
            return
        place = rule.references.span if rule.references is not None else None
        check_unique(self.engine, step.table, step.column, place or rule.span)


def check_unique(
    engine: Engine, table: QualifiedName, column: Name, span: Span | None = None
) -> None:
    """Raise where a value stands in several rows of a table: rows that name it would be of all."""
    value = column_of(column.text, _ROWS)
    distinct = exp.Count(this=exp.Distinct(expressions=[value]))
    repeats = exp.LT(this=distinct, expression=exp.Count(this=value.copy()))
    query = exp.select(named(repeats, "repeats")).from_(table_of(table, _ROWS))
    if engine.query(query).column("repeats")[0].as_py():
        raise BindError(
            f"some values of '{column}' are in several rows of '{_shown(table)}', so nobody can say"
            " whose a row is",
            span,
            "refer to a column that is different in every row",
            code="not_unique",
        )


def check_paths(engine: Engine, source: Source) -> None:
    """Raise where the way to a person that a release was made with leads to several by now."""
    query = parse_query(source.text) if isinstance(source, QuerySource) else None
    if not isinstance(query, exp.Select):
        return
    for number, join in enumerate(query.args.get("joins") or ()):
        on = join.args.get("on")
        if join.alias_or_name != f"{_STEP}{number}" or not isinstance(on, exp.EQ):
            return  # it is the owner's own
        check_unique(engine, table_name(join.this), Name(on.expression.name))


def _about(rule: ColumnRule, entity: str | None) -> ColumnRule:
    """Return a line with whom its column names."""
    if entity is not None and entity.startswith(ENTITY):
        return replace(rule, entity=Name(entity.removeprefix(ENTITY)))
    if entity is not None and entity.startswith(_TABLE):
        return replace(rule, references=Reference(*parts_of_origin(entity)))
    return rule


def _shown(table: QualifiedName) -> str:
    return str(QualifiedName(table.parts[1:]) if table.catalog == STORE_CATALOG else table)
