"""Columns that tie rows inside the high class to rows outside, which show who they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.compile import outside
from ppdm_sql.compile.grouping import COUNT
from ppdm_sql.compile.targets import DUCKDB
from ppdm_sql.errors import plural
from ppdm_sql.model.syntax import Role
from ppdm_sql.model.transform import Links
from ppdm_sql.model.types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.compile.query import Storage
    from ppdm_sql.model.release import BoundRule, Release
    from ppdm_sql.names import Name
    from ppdm_sql.session.engine import Engine

_MOSTLY = 0.9
"""The share of repeated values that are one person's from which a column stands for persons: a few
typing errors must not silence the warning."""
_SHOWN = "the rows outside show their quasi-identifiers as they are"
_WHOLE = "a WHEN that takes all rows of a person"


def tie_warnings(engine: Engine, release: Release, storage: Storage) -> Iterator[str]:
    """Say which released columns tie rows inside and outside the high class together.

    A pseudonym always stands for somebody. Any other column does where its values are each one
    person's; that is asked only if somebody has rows on both sides.
    """
    if release.grouping is None or release.grouping.when is None:
        return
    query = outside.split_persons_query(release, storage, DUCKDB)
    split = 0 if query is None else int(engine.query(query).column(COUNT)[0].as_py())
    for rule in release.released_rules:
        if rule.role is Role.QUASI:
            continue
        for name, type_ in zip(rule.names, rule.output_types, strict=True):
            links = any(isinstance(step.transform, Links) for step in rule.steps)
            if rule.role is Role.KEY or links:
                tied = _tied_values(engine, release, storage, name) if links or split else 0
            else:
                is_asked = split and type_.kind is not Kind.OTHER
                tied = _tied_persons(engine, release, storage, name) if is_asked else 0
            if tied:
                yield _warning(rule, name, tied)


def _tied_values(engine: Engine, release: Release, storage: Storage, name: Name) -> int:
    query = outside.tied_values_query(release, storage, DUCKDB, name)
    return int(engine.query(query).column(COUNT)[0].as_py())


def _tied_persons(engine: Engine, release: Release, storage: Storage, name: Name) -> int:
    """Count values of one person each; none where most values are shared, as those of a ward."""
    query = outside.tied_persons_query(release, storage, DUCKDB, name)
    (found,) = engine.query(query).to_pylist()
    is_of_persons = found[outside.OWN] >= _MOSTLY * found[outside.REPEATED]
    return int(found[COUNT]) if is_of_persons else 0


def _warning(rule: BoundRule, name: Name, tied: int) -> str:
    if rule.role is Role.KEY:
        return (
            f"{plural(tied, 'person')} leave rows inside and outside the high class under one KEY,"
            f" '{name}': {_SHOWN}; write KEY alone, which does not leave, or {_WHOLE}"
        )
    return (
        f"{plural(tied, 'value')} of '{name}' stand in rows inside and outside the high class, as"
        f" if of one person each: {_SHOWN}; leave '{name}' out, or write {_WHOLE}"
    )
