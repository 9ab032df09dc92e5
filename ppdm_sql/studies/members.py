"""What a study asks of its members: the same person in each, and names that can be counted."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError
from ppdm_sql.language.syntax import Role
from ppdm_sql.lifecycle.make_version import meeting
from ppdm_sql.names import Name
from ppdm_sql.release.ancestry import passed_releases
from ppdm_sql.release.sources import Sources
from ppdm_sql.store import catalog
from ppdm_sql.treatments import traits_of
from ppdm_sql.treatments.protocol import ENTITY
from ppdm_sql.types import FITS_BIGINT

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.language.syntax import CreateStudy, Member
    from ppdm_sql.names import QualifiedName
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.treatments.protocol import InputColumn


def check_members(
    releases: Releases, statement: CreateStudy, versions: tuple[Version, ...]
) -> None:
    """Raise where a member does not fit the others."""
    _check_persons(statement, versions)
    _check_names(statement, versions)
    _check_carried(releases, statement, versions)


def _check_persons(statement: CreateStudy, versions: tuple[Version, ...]) -> None:
    """Raise unless the KEYs of all releases are the same person's."""
    keys = [version.release.key for version in versions]
    word = f"{ENTITY}{statement.person.folded}"
    others = [key.whose for key in keys if key is not None and key.whose != word]
    # Without any KEY OF, all must be one column's; beside one, none may be.
    same = others[0] if others and len(others) == len(versions) else None
    for version, key, member in zip(versions, keys, statement.members, strict=True):
        if key is None:
            raise BindError(
                f"'{version.entry.name}' has no KEY, so nobody knows whose a row is",
                member.span,
                f"list a KEY OF {statement.person}; it need not be released",
                code="other_person",
            )
        is_word = key.whose.startswith(ENTITY)
        if is_word and key.whose == word:
            continue
        if is_word or key.whose != same:
            whose = key.whose.removeprefix(ENTITY) if is_word else str(key.name)
            raise BindError(
                f"the KEY of '{version.entry.name}' is of '{whose}', not of '{statement.person}'",
                member.span,
                f"write KEY OF {statement.person} in each release; where another table says whose a"
                " row is, release that table first, and write KEY REFERENCES table (column)",
                code="other_person",
            )
    for (one, key), (other, another) in pairwise(zip(versions, keys, strict=True)):
        assert key is not None
        assert another is not None
        types = (key.type.text, another.type.text)
        if types[0] != types[1] and not set(types) <= FITS_BIGINT:
            raise BindError(
                f"the KEY of '{one.entry.name}' is {types[0]}, that of '{other.entry.name}' is"
                f" {types[1]}",
                statement.person_span,
                "cast one of them in a (SELECT …) source: persons are told by equal values",
                code="wrong_type",
            )


def _check_names(statement: CreateStudy, versions: tuple[Version, ...]) -> None:
    """Raise where names of one thing are cut in two ways: their beginnings can still be joined."""
    if statement.across is None:
        return
    seen: dict[str, tuple[str | None, str]] = {}
    for version, member in zip(versions, statement.members, strict=True):
        for rule in version.release.released_rules:
            links = [one.treatment.link() for one in rule.steps if one.treatment.names_alike]
            if not links or rule.role is Role.KEY:  # who a row is about is counted anyway
                continue
            if len(rule.steps) > len(links):
                raise BindError(
                    f"'{rule.names[0]}' of {version.entry.name} is a pseudonym that another treatment"
                    " changes: what is joined by a part of it cannot be counted",
                    member.span,
                    "write pseudonym() alone",
                    code="names_differ",
                )
            here = f"'{rule.names[0]}' of {version.entry.name}"
            meets, there = seen.setdefault("\0".join(links), (meeting(rule), here))
            if meets != meeting(rule):
                raise BindError(
                    f"{there} and {here} name the same thing in two ways, whose beginnings can be joined",
                    member.span,
                    "write the same length and prefix for both: over several tables, what is joined so is"
                    " not counted",
                    code="names_differ",
                )


def _check_carried(
    releases: Releases, statement: CreateStudy, versions: tuple[Version, ...]
) -> None:
    """Raise where a member carries names that another release made: nobody counts what they join."""
    sources = Sources(releases.engine)
    first: frozenset[tuple[QualifiedName, Name]] | None = None
    for version, member in zip(versions, statement.members, strict=True):
        key = version.release.key
        assert key is not None  # asked before
        through = frozenset(
            one
            for one in passed_releases(sources, version.release.source, key.name)
            if _renames(releases, *one)
        )
        first = through if first is None else first
        if through != first:
            raise BindError(
                f"the KEY of '{version.entry.name}' is a name that a release made, that of"
                f" '{versions[0].entry.name}' is another one: nobody can tell who is who",
                member.span,
                "make all releases of a study from tables, or through the same release",
                code="other_person",
            )
        for rule in version.release.released_rules:
            for name, column in zip(rule.names, rule.columns, strict=True):
                passed = passed_releases(sources, version.release.source, column.name)
                inner = next((one for one in passed if _names_things(releases, *one)), None)
                if inner is not None and rule.role is not Role.KEY:
                    raise _carried(version, name, inner[0], member)


def check_named(
    releases: Releases,
    statement: CreateStudy,
    versions: tuple[Version, ...],
    names_something: Callable[[InputColumn], bool],
) -> None:
    """Raise where a column names something under names that another release gave it."""
    sources = Sources(releases.engine)
    for version, member in zip(versions, statement.members, strict=True):
        for rule in version.release.released_rules:
            if rule.role is Role.KEY:
                continue
            for name, column in zip(rule.names, rule.columns, strict=True):
                for inner, of_it in passed_releases(sources, version.release.source, column.name):
                    is_other = _renames(releases, inner, of_it)
                    if is_other and _names(releases, inner, of_it, names_something):
                        raise _carried(version, name, inner, member)


def _names(
    releases: Releases,
    name: QualifiedName,
    column: Name,
    names_something: Callable[[InputColumn], bool],
) -> bool:
    """Whether a column of another release names something, by what it was there."""
    entry = releases.find(name)
    if entry is None:
        return False
    return any(
        shown == column and names_something(source)
        for rule in releases.open(entry).release.released_rules
        for shown, source in zip(rule.names, rule.columns, strict=True)
    )


def _carried(version: Version, name: Name, inner: QualifiedName, member: Member) -> BindError:
    return BindError(
        f"'{name}' of {version.entry.name} carries names that {inner} made: what they join, and whom they"
        " name, cannot be counted",
        member.span,
        "release the column from its table, with a pseudonym() of its own",
        code="carried_names",
    )


def _renames(releases: Releases, name: QualifiedName, column: Name) -> bool:
    """Whether a release shows persons under other names than its table."""
    entry = catalog.find_entry(releases.engine, name)
    listed = [] if entry is None else catalog.list_columns(releases.engine, entry)
    words = [word for one in listed if Name(one.name) == column for word in one.treatments]
    return any(not traits_of(word, releases.treatments).shows_originals for word in words)


def _names_things(releases: Releases, name: QualifiedName, column: Name) -> bool:
    entry = catalog.find_entry(releases.engine, name)
    listed = [] if entry is None else catalog.list_columns(releases.engine, entry)
    return any(Name(one.name) == column and one.meets is not None for one in listed)
