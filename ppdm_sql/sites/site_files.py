"""The releases of several sites, as their published files say: what is checked before a study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ppdm_sql.delivery.release_info import INFO
from ppdm_sql.delivery.signature import verified_copy
from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import BindError, Refused, StoreError, suggest
from ppdm_sql.foreign.files import ForeignFile
from ppdm_sql.language.script import parse_name
from ppdm_sql.language.syntax import Role
from ppdm_sql.names import RESERVED_HINT, STORE_CATALOG, Name, QualifiedName, unchained
from ppdm_sql.treatments import traits_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlglot import exp

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.foreign.files import ForeignColumn


@dataclass(frozen=True, slots=True)
class PartColumn:
    """A released column of one site."""

    name: Name
    type: str
    role: str
    treatments: tuple[str, ...]
    """The words of its treatments, in order."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is read of a site's file, and as what."""

    alias: Name
    agreement: str
    """The fingerprint that a site told the miner: the key that must have signed the file."""
    release: str | None = None
    """None: the only one."""


@dataclass(frozen=True, slots=True)
class Part:
    """One site's release, read from its file into a table of ours."""

    path: Path
    alias: Name
    name: QualifiedName
    """The table that holds its rows here."""
    release: QualifiedName
    columns: tuple[PartColumn, ...]
    accepted: str | None = None
    """What its owner accepted."""
    publication: str | None = None
    """The name of the publication that it comes from."""

    @property
    def table(self) -> exp.Table:
        """The release as SQL names it."""
        return table_of(self.name)

    @property
    def keys(self) -> list[PartColumn]:
        """The columns that tell people apart: pseudonyms of the KEY."""
        return [column for column in self.columns if column.role == Role.KEY.value]


def read_part(engine: Engine, path: Path, part: Wanted, workplace: Path) -> Part:
    """Read a site's release into a table of ours; refuse what the agreement's key did not sign.

    The file is copied while it is checked: what is opened is what was signed, without any log
    that lies beside it.
    """
    if not path.is_file():
        raise StoreError(f"there is no file '{path}'", code="no_such_file")
    copy = workplace / part.alias.text
    verified_copy(path, part.agreement, copy)
    try:
        with ForeignFile(copy, called=path) as file:
            if INFO not in file.tables:
                raise _not_a_publication(path)
            return _read(engine, path, part, file)
    finally:
        copy.unlink(missing_ok=True)


def _read(engine: Engine, path: Path, part: Wanted, file: ForeignFile) -> Part:
    info = file.rows(INFO).read_all()
    if "release" not in info.column_names:
        raise _not_a_publication(path)
    rows = info.to_pylist()
    known = [str(row["release"]) for row in rows]
    if part.release is None and len(known) != 1:
        raise BindError(
            f"'{path}' holds {len(known)} releases",
            hint=suggest("", known, "choose one of them"),
            code="unknown_release",
        )
    wanted = parse_name(part.release or known[0])
    row = next((row for row in rows if parse_name(str(row["release"])) == wanted), None)
    if row is None:
        raise BindError(
            f"there is no release '{wanted}' in '{path}'",
            hint=suggest(str(wanted), known, "releases"),
            code="unknown_release",
        )
    wanted = parse_name(str(row["release"]))  # as the file spells it
    if row.get("agreement") != part.agreement:
        raise Refused(
            f"'{wanted}' in '{path}' was not released under this agreement",
            hint="rows of different sites mean the same only if they agreed on it",
            code="not_agreed",
        )
    if wanted not in file.tables:
        raise StoreError(
            f"'{path}' does not hold the release '{wanted}' that it lists", code="not_a_publication"
        )
    columns = file.columns(wanted)
    for column in columns:
        if Name(column.name).is_reserved:
            raise Refused(
                f"'{path}' has a column '{column.name}', a reserved name",
                hint=RESERVED_HINT,
                code="reserved_name",
            )
    table = QualifiedName((STORE_CATALOG, Name("main"), part.alias))
    engine.create_table(table, file.rows(wanted))
    return Part(
        path,
        part.alias,
        table,
        wanted,
        tuple(map(_column, columns)),
        row.get("accepted"),
        row.get("publication"),
    )


def _not_a_publication(path: Path) -> StoreError:
    return StoreError(
        f"'{path}' is not a publication",
        hint="a site makes one with PUBLISH RELEASE",
        code="not_a_publication",
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


def _column(column: ForeignColumn) -> PartColumn:
    role, _, words = (column.comment or "").partition(", ")
    return PartColumn(Name(column.name), column.type, role, unchained(words))
