"""SHOW STUDIES, DESCRIBE STUDY and DROP STUDY."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.publish.options import RECIPIENT
from ppdm_sql.store.studies import forget_study, list_studies
from ppdm_sql.studies.study import find_study, open_study, statement_of, stored_study

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import CreateStudy, DescribeStudy, DropStudy
    from ppdm_sql.release.releases import Releases

_STUDIES = pa.schema(
    {
        "study": pa.string(),
        "person": pa.string(),
        "releases": pa.list_(pa.string()),
        "until": pa.string(),
        "linkable": pa.string(),
        "created_at": pa.timestamp("s"),
    }
)
_MEMBERS = pa.schema(
    {
        "release": pa.string(),
        "version": pa.int32(),
        "key": pa.string(),
        "most_rows": pa.int32(),
        "refers_to": pa.string(),
        "until": pa.string(),
    }
)


def studies_table(releases: Releases) -> pa.Table:
    """Return SHOW STUDIES as a table; nothing is opened."""
    rows = []
    for stored in list_studies(releases.engine):
        statement = statement_of(stored)
        rows.append(
            {
                "study": str(stored.name),
                "person": str(statement.person),
                "releases": [str(one.name) for one in statement.members],
                "until": _until(statement),
                "linkable": _linkable(statement),
                "created_at": stored.created_at.replace(microsecond=0),
            }
        )
    return pa.Table.from_pylist(rows, schema=_STUDIES)


def members_table(releases: Releases, statement: DescribeStudy) -> pa.Table:
    """Return DESCRIBE STUDY as a table: its releases, and what of them refers to what."""
    study = open_study(releases, statement.name, statement.span)
    rows = []
    for version in study.versions:
        name, key = version.entry.name, version.release.key
        rows.append(
            {
                "release": str(name),
                "version": version.entry.version,
                "key": None if key is None else str(key.name),
                "most_rows": study.most_rows(name),
                "refers_to": ", ".join(
                    f"{one.name} → {one.parent}" for one in study.references if one.child == name
                )
                or None,
                "until": _until(study.statement) if name in study.across else None,
            }
        )
    return pa.Table.from_pylist(rows, schema=_MEMBERS)


def drop_study(releases: Releases, statement: DropStudy) -> bool:
    """DROP STUDY: its releases stay. False if there was none."""
    with releases.engine.transaction():
        if statement.if_exists and find_study(releases, statement.name) is None:
            return False
        forget_study(releases.engine, stored_study(releases, statement.name, statement.span).name)
        return True


def _until(statement: CreateStudy) -> str | None:
    across = statement.across
    if across is None:
        return None
    said = []
    for one in across.targets:
        of = "" if one.column is None else f"({one.column.name})"
        said.append(f"{one.word}{of} = {one.value}")
    text = ", ".join(said)
    if across.releases:
        text += f" across {', '.join(str(one.name) for one in across.releases)}"
    return f"{text}, at most {across.percent:g} percent left out"


def _linkable(statement: CreateStudy) -> str:
    return next((str(one.value) for one in statement.options), RECIPIENT)
