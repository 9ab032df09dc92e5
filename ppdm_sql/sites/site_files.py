"""The releases of several sites, as their published files say: what is checked before a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.delivery.destinations import INFO
from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import BindError, EngineError, Refused, StoreError, suggest
from ppdm_sql.foreign.contents import attach_foreign
from ppdm_sql.language.script import parse_name
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import RESERVED_HINT, Name, QualifiedName, unchained
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ppdm_sql.engine.duckdb import Engine

_COLUMNS = (
    "SELECT column_name, data_type, comment FROM duckdb_columns() WHERE database_name = ?"
    " AND schema_name = ? AND table_name = ? AND table_oid IN"
    " (SELECT table_oid FROM duckdb_tables() WHERE database_name = ? AND schema_name = ?"
    " AND table_name = ?) ORDER BY column_index"
)


@dataclass(frozen=True, slots=True)
class PartColumn:
    """A released column of one site."""

    name: Name
    type: str
    role: str
    treatments: tuple[str, ...]
    """The words of its treatments, in order."""


@dataclass(frozen=True, slots=True)
class Part:
    """One site's release in its file, attached under a name of ours."""

    path: Path
    alias: Name
    release: QualifiedName
    columns: tuple[PartColumn, ...]
    agreement: str
    """The fingerprint of the agreement that it was made under."""

    @property
    def table(self) -> exp.Table:
        """The release as SQL names it."""
        return table_of(QualifiedName((self.alias, *self.release.parts)))

    @property
    def keys(self) -> list[PartColumn]:
        """The columns that tell people apart: pseudonyms of the KEY."""
        return [column for column in self.columns if column.role == Role.KEY.value]


def read_part(engine: Engine, path: Path, alias: Name, release: str | None) -> Part:
    """Attach a published file and return its release; refuse what is not under an agreement."""
    if not path.is_file():
        raise StoreError(f"there is no file '{path}'", code="no_such_file")
    try:
        if INFO not in attach_foreign(engine, path, alias):
            raise _not_a_publication(path)
        info = engine.query(exp.select("*").from_(table_of(QualifiedName((alias, *INFO.parts)))))
    except EngineError:
        raise _not_a_publication(path) from None
    if "release" not in info.column_names:
        raise _not_a_publication(path)
    rows = info.to_pylist()
    known = [str(row["release"]) for row in rows]
    if release is None and len(known) != 1:
        raise BindError(
            f"'{path}' holds {len(known)} releases",
            hint=suggest("", known, "choose one of them"),
            code="unknown_release",
        )
    wanted = parse_name(release or known[0])
    row = next((row for row in rows if parse_name(str(row["release"])) == wanted), None)
    if row is None:
        raise BindError(
            f"there is no release '{wanted}' in '{path}'",
            hint=suggest(str(wanted), known, "releases"),
            code="unknown_release",
        )
    wanted = parse_name(str(row["release"]))  # as the file spells it
    fingerprint = row.get("agreement")
    if not fingerprint:
        raise Refused(
            f"'{wanted}' in '{path}' was not released under an agreement",
            hint="rows of different sites mean the same only if they agreed on it",
            code="not_agreed",
        )
    place = (alias.text, *(part.text for part in wanted.parts))
    columns = engine.query(_COLUMNS, (*place, *place)).to_pylist()
    if not columns:
        raise StoreError(
            f"'{path}' does not hold the release '{wanted}' that it lists", code="not_a_publication"
        )
    for column in columns:
        if Name(column["column_name"]).is_reserved:
            raise Refused(
                f"'{path}' has a column '{column['column_name']}'",
                hint=RESERVED_HINT,
                code="reserved_name",
            )
    return Part(path, alias, wanted, tuple(_column(column) for column in columns), str(fingerprint))


def _not_a_publication(path: Path) -> StoreError:
    return StoreError(
        f"'{path}' is not a publication",
        hint="a site makes one with PUBLISH RELEASE",
        code="not_a_publication",
    )


def check_agreement(parts: Sequence[Part]) -> None:
    """Refuse releases of different agreements."""
    first = parts[0]
    for part in parts[1:]:
        if part.agreement != first.agreement:
            raise Refused(
                f"'{part.path}' and '{first.path}' were not released under the same agreement",
                hint="compare SHOW AGREEMENTS at the sites",
                code="not_agreed",
            )


def check_same_columns(parts: Sequence[Part]) -> None:
    """Raise when two sites did not release the same columns in the same types."""
    first = parts[0]
    names = {column.name: column for column in first.columns}
    for part in parts[1:]:
        mine = {column.name: column for column in part.columns}
        for name in [*names, *mine]:
            here, there = names.get(name), mine.get(name)
            if here is None or there is None:
                lacking = part if there is None else first
                raise BindError(
                    f"'{lacking.path}' has no column '{name}'", hint=_STACK, code="unknown_column"
                )
            if here.type != there.type:
                raise BindError(
                    f"'{name}' is {here.type} in '{first.path}' and {there.type} in '{part.path}'",
                    hint="cast it in the (SELECT …) source of one site's release",
                    code="sites_differ",
                )


_STACK = "--stack takes sites with the same columns, --join those with different ones"


def join_key(parts: Sequence[Part]) -> Name:
    """Return the column that rows are joined on; raise when there is none, or a name is doubled."""
    for part in parts:
        if len(part.keys) != 1 or not _links(part.keys[0]):
            raise BindError(
                f"'{part.path}' has no KEY to join on",
                hint="release the KEY AS pseudonym() at every site",
                code="key",
            )
    key = parts[0].keys[0].name
    owners: dict[Name, Part] = {}
    for part in parts:
        for column in part.columns:
            if column.name == key:
                continue
            if column.name in owners:
                other = owners[column.name]
                raise BindError(
                    f"'{column.name}' is in '{other.path}' and in '{part.path}'",
                    hint="let one site release it",
                    code="sites_differ",
                )
            owners[column.name] = part
    return key


def _links(column: PartColumn) -> bool:
    """Whether rows of one person have one value at every site."""
    found = [traits_of(word) for word in column.treatments]
    # A word that nobody knows links nothing that we know of.
    return [traits.links_rows and traits.renames for traits in found] == [True]


def _column(row: dict[str, str]) -> PartColumn:
    role, _, words = (row["comment"] or "").partition(", ")
    treatments = unchained(words)
    return PartColumn(Name(row["column_name"]), row["data_type"], role, treatments)
