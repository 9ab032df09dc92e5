"""A published file full of canaries' shadows: what attackers hold."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

import pytest

import ppdm_sql

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.analyst.session import Analyst

# Names and values that are nowhere else, so that a byte search for them means something.
SOURCE = """
CREATE SCHEMA wxclinic;
CREATE TABLE wxclinic.wxpatients (id BIGINT, wxname VARCHAR, wxunlisted VARCHAR, weight DOUBLE,
                                  illness VARCHAR, ward VARCHAR);
COMMENT ON TABLE wxclinic.wxpatients IS 'Wxremark of the owner';
INSERT INTO wxclinic.wxpatients
SELECT 7770000000 + range, 'Xanthippe' || range, 'Ozymandias' || range, 40 + range % 50,
       ['Bubonic', 'Scrofula', 'Quinsy'][1 + range % 3], chr(65 + (range % 4)::INTEGER)
FROM range(5000);
"""
RELEASE = """
CREATE RELEASE research.people FROM (SELECT *, wxunlisted || 'Wxalias' AS wxextra FROM wxclinic.wxpatients) (
    id      KEY       AS pseudonym(prefix => 'P-', entity => 'Vfbxqish'),
    wxname  IDENTIFIER,
    weight  SENSITIVE AS graded_grouping(bands => [31.4159265, 62.8318531, 94.2477796]),
    illness SENSITIVE AS mapping(prefix => 'Alias'),
    ward    NEUTRAL
)
"""
CANARIES = (
    "wxclinic", "wxpatients", "wxname", "wxunlisted", "wxextra", "Wxalias", "Wxremark",
    "Xanthippe", "Ozymandias", "Bubonic", "Scrofula", "Quinsy", "Vfbxqish", "31.4159",
    "ppdm_owner", "ppdm_store", "ppdm_incoming", "r1_v1", "aliases", "graded_grouping(", "bands",
)  # fmt: skip


class Holding(NamedTuple):
    """What there is to attack, and what must not be found in it."""

    file: Path
    folder: Path
    owner: Path
    secrets: tuple[bytes, ...]
    """Canaries, keys as text and as bytes, numbers of the bands, paths."""


@pytest.fixture(scope="session")
def holding(tmp_path_factory: pytest.TempPathFactory) -> Holding:
    """Publish uncompressed, so that a search of bytes finds whatever is there."""
    import struct

    here = tmp_path_factory.mktemp("attack")
    database = here / "safe" / "clinic.duckdb"
    with warnings.catch_warnings(), ppdm_sql.connect(database) as owner:
        warnings.simplefilter("ignore", ppdm_sql.PrivacyWarning)
        owner.execute("SET force_compression = 'uncompressed'")
        owner.execute(SOURCE)
        owner.execute(RELEASE)
        owner.execute("CHECKPOINT")
        file, folder = here / "study.duckdb", here / "study"
        owner.publish("research.people", to=file)
        owner.publish("research.people", to=folder, format="parquet")
        ((root,),) = owner.connection.execute("SELECT root_key FROM ppdm_owner.store").fetchall()
        row = owner.connection.execute("FROM ppdm_owner.r1_v1_parameters").fetchall()[0]
        owner.execute("CHECKPOINT")
    words = [word.encode() for word in CANARIES]
    keys = [
        root,
        root.hex().encode(),
        *(v.encode() for v in row if isinstance(v, str) and len(v) > 9),
    ]
    numbers = [struct.pack("<d", value) for value in (31.4159265, 62.8318531, 94.2477796)]
    paths = [str(database.parent).encode(), str(here).encode()]
    assert len(keys) == 3
    return Holding(file, folder, database, (*words, *keys, *numbers, *paths))


@pytest.fixture(scope="session")
def study(holding: Holding) -> Iterator[Analyst]:
    """An analyst's session, shared by tests that do not break it."""
    with ppdm_sql.open_release(holding.file, timeout_s=20) as opened:
        yield opened
