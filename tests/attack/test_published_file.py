"""What somebody finds who holds a published file and every tool there is: only what was released."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql

if TYPE_CHECKING:
    from pathlib import Path

    from tests.attack.conftest import Holding

RELEASED = b"P-"


def found_in(data: bytes, secrets: tuple[bytes, ...]) -> list[bytes]:
    folded = data.lower()
    return [secret for secret in secrets if secret in data or secret.lower() in folded]


def test_the_search_finds_what_is_there(holding: Holding) -> None:
    """Searches the owner's own database, which is full of all of it."""
    data = holding.owner.read_bytes()
    missing = set(holding.secrets) - set(found_in(data, holding.secrets))
    # Paths are in no file, these words in no statement that was stored, and the root key is bytes.
    elsewhere = {b"ppdm_incoming", b"aliases", *(word.hex().encode() for word in holding.secrets)}
    assert {word for word in missing if not word.startswith(b"/")} <= elsewhere
    assert RELEASED in holding.file.read_bytes()


def test_no_byte_of_the_owners_is_in_the_file(holding: Holding) -> None:
    """Reads the file byte by byte: values, names, parameters, keys, paths, free pages."""
    assert found_in(holding.file.read_bytes(), holding.secrets) == []


def test_no_byte_of_the_owners_is_in_a_folder_of_parquet(holding: Holding) -> None:
    """Reads every file of the folder byte by byte."""
    for path in holding.folder.iterdir():
        assert found_in(path.read_bytes(), holding.secrets) == []


def test_no_raw_key_is_in_the_file(holding: Holding) -> None:
    """Looks for original keys as the numbers and as the texts that they are."""
    data = holding.file.read_bytes()
    for key in (7770000000, 7770000123, 7770004999):
        assert str(key).encode() not in data
        assert key.to_bytes(8, "little") not in data


CATALOGS = (
    "duckdb_tables()", "duckdb_columns()", "duckdb_views()", "duckdb_functions()", "duckdb_types()",
    "duckdb_sequences()", "duckdb_indexes()", "duckdb_constraints()", "duckdb_schemas()",
    "duckdb_databases()", "duckdb_dependencies()", "duckdb_secrets()", "duckdb_variables()",
    "duckdb_triggers()", "sqlite_master", "information_schema.tables", "information_schema.columns",
    "pg_catalog.pg_class", "pg_catalog.pg_description", "pg_catalog.pg_views",
)  # fmt: skip


@pytest.mark.parametrize("catalog", CATALOGS)
def test_no_catalog_lists_anything_of_the_owners(holding: Holding, catalog: str) -> None:
    """Lists everything that DuckDB can list of the file, with a client that nothing limits."""
    with duckdb.connect(holding.file, read_only=True) as client:
        client.execute("USE study")
        text = repr(client.execute(f"FROM {catalog}").fetchall()).encode()
    words = tuple(word for word in holding.secrets if not word.startswith(b"/"))
    with duckdb.connect() as fresh:  # what DuckDB says of itself
        own = repr(fresh.execute(f"FROM {catalog}").fetchall()).encode()
    assert set(found_in(text, words)) <= set(found_in(own, words))


def test_only_tables_are_in_it(holding: Holding) -> None:
    """Looks for views, macros, sequences, indexes and constraints, in which secrets could stand."""
    with duckdb.connect(holding.file, read_only=True) as client:
        tables = client.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
        listed = [("main", "codebook"), ("main", "release_info"), ("research", "people")]
        assert sorted(tables) == listed
        for listing in ("duckdb_views()", "duckdb_functions()", "duckdb_types()"):
            mine = f"SELECT count(*) FROM {listing} WHERE NOT internal"
            assert client.execute(mine).fetchall() == [(0,)], listing
        for listing in ("duckdb_sequences()", "duckdb_indexes()", "duckdb_constraints()"):
            assert client.execute(f"SELECT count(*) FROM {listing}").fetchall() == [(0,)], listing


@pytest.mark.parametrize(
    "macro",
    [
        "sha256(x) AS x", "substring(a, b, c) AS a", '"||"(a, b) AS b', '"*"(a, b) AS b',
        '"-"(a, b) AS b', "round(x) AS x", "sum(x) AS x", "floor(x) AS x",
    ],
)  # fmt: skip
def test_shadowing_a_function_turns_no_treatment_off(holding: Holding, macro: str) -> None:
    """Puts a macro before a built-in, which makes a view print its own secrets."""
    with duckdb.connect(holding.file, read_only=True) as client:
        before = client.execute("FROM research.people ORDER BY id").fetchall()
        client.execute(f"CREATE TEMP MACRO {macro}")
        assert client.execute("FROM research.people ORDER BY id").fetchall() == before


def test_statistics_are_those_of_released_values(holding: Holding) -> None:
    """Asks for the statistics that DuckDB keeps of a column, which showed hidden rows of views."""
    with duckdb.connect(holding.file, read_only=True) as client:
        for column in ("id", "weight", "illness", "ward"):
            query = f"SELECT DISTINCT stats({column}) FROM research.people"
            text = repr(client.execute(query).fetchall()).encode()
            assert found_in(text, holding.secrets) == []
        storage = client.execute("FROM pragma_storage_info('research.people')").fetchall()
        assert found_in(repr(storage).encode(), holding.secrets[:-2]) == []


@pytest.mark.parametrize(
    "write",
    [
        "INSERT INTO research.people SELECT * FROM research.people", "DROP TABLE research.people",
        "UPDATE research.people SET ward = 'X'", "CREATE TABLE t (i INTEGER)", "CHECKPOINT",
        "WITH x AS (DELETE FROM research.people RETURNING *) FROM x",
        "ALTER TABLE research.people ADD COLUMN x INTEGER", "COMMENT ON TABLE release_info IS 'x'",
    ],
)  # fmt: skip
def test_the_file_is_not_written_by_who_reads_it(holding: Holding, write: str) -> None:
    """Writes through a client that opened the file read-only."""
    before = holding.file.read_bytes()
    with duckdb.connect(holding.file, read_only=True) as client:
        try:
            client.execute(write).fetchall()
        except duckdb.Error:
            pass
        else:
            assert write == "CHECKPOINT"
    assert holding.file.read_bytes() == before


def test_a_compressed_file_holds_no_canary_either(holding: Holding, tmp_path: Path) -> None:
    """The file as it is usually written: weak evidence alone, and cheap."""
    shutil.copytree(holding.owner.parent, tmp_path / "safe")
    with ppdm_sql.connect(tmp_path / "safe" / "clinic.duckdb") as owner:
        owner.publish("research.people", to=tmp_path / "study.duckdb")
    data = (tmp_path / "study.duckdb").read_bytes()
    assert found_in(data, holding.secrets) == []


def test_nothing_is_left_beside_it(holding: Holding) -> None:
    """Looks beside the file for logs, spilled rows and half-written files."""
    listed = ["safe", "study", "study.codebook.md", "study.duckdb"]
    assert sorted(os.listdir(holding.file.parent)) == listed
