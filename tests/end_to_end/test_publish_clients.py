"""A published file is only a file: old DuckDB clients and other libraries open it.

The environments of the clients are made by `make clients`; where they are not there, the tests
say so and are skipped.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import duckdb
import pytest

import ppdm_sql
from tests.conftest import PEOPLE

pytestmark = pytest.mark.clients
CLIENTS = Path(__file__).resolve().parents[2] / ".venv-clients"
KINDS = """
    bool tinyint bigint hugeint uhugeint date time timestamp timestamp_s timestamp_ns float double
    dec_4_1 dec38_10 uuid interval varchar blob bit small_enum int_array struct map fixed_int_array
"""
READ = """
import duckdb, json, sys
client = duckdb.connect(sys.argv[1], read_only=True)
rows = client.execute("FROM research.people ORDER BY id").fetchall()
kinds = client.execute("FROM research.kinds").fetchall()
comments = client.execute(
    "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'people' ORDER BY 1").fetchall()
info = client.execute("SELECT release, version, rows FROM release_info ORDER BY 1").fetchall()
print(json.dumps([duckdb.__version__, rows, len(kinds), comments, info]))
"""
ENGINE = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pandas, polars, sqlalchemy
engine = sqlalchemy.create_engine(
    "duckdb:///" + sys.argv[1], connect_args={"read_only": True})
query = "SELECT id, ward FROM research.people ORDER BY id"
with engine.connect() as connection:
    rows = [list(row) for row in connection.execute(sqlalchemy.text(query))]
    frame = pandas.read_sql(sqlalchemy.text(query), connection)
    other = polars.read_database(query, connection)
print(json.dumps([rows, frame.shape, other.shape]))
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clients") / "study.duckdb"
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(PEOPLE)
        owner.execute("CREATE TABLE kinds AS SELECT * FROM test_all_types()")
        columns = ", ".join(f'"{name}" NEUTRAL' for name in KINDS.split())
        owner.execute(
            "CREATE RELEASE research.people FROM clinic.people (id KEY AS pseudonym(),"
            " age QUASI AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]), ward NEUTRAL);"
            f"CREATE RELEASE research.kinds FROM kinds ({columns})"
        )
        owner.publish("research.people", "research.kinds", to=path)
    return path


def run(client: str, code: str, file: Path) -> Any:
    python = CLIENTS / client / "bin" / "python"
    if not (CLIENTS / client / ".ready").exists():
        pytest.skip(f"there is no DuckDB {client} in {CLIENTS.name}: `make clients` installs it")
    done = subprocess.run(
        [python, "-c", code, str(file)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def as_json(rows: list[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(row) for row in rows]


@pytest.mark.parametrize("client", ["1.4", "1.5"])
def test_old_clients_read_all_of_it(file: Path, client: str) -> None:
    with duckdb.connect(file, read_only=True) as here:
        expected = as_json(here.execute("FROM research.people ORDER BY id").fetchall())
    version, rows, kinds, comments, info = run(client, READ, file)
    assert version == f"{client}.0"
    assert rows == expected
    assert kinds == 3
    assert comments == [
        ["age", "QUASI, graded_grouping"],
        ["id", "KEY, pseudonym"],
        ["ward", "NEUTRAL, keep"],
    ]
    assert info == [["research.kinds", 1, 3], ["research.people", 1, 6]]


def test_sqlalchemy_pandas_and_polars_read_it(file: Path) -> None:
    with duckdb.connect(file, read_only=True) as here:
        expected = as_json(
            here.execute("SELECT id, ward FROM research.people ORDER BY id").fetchall()
        )
    rows, pandas_shape, polars_shape = run("1.5", ENGINE, file)
    assert rows == expected
    assert pandas_shape == polars_shape == [6, 2]


@pytest.mark.parametrize("client", ["1.4", "1.5"])
def test_old_clients_read_a_signed_file(tmp_path: Path, client: str) -> None:
    """Signatures stand behind the last block of the database, where no client looks."""
    file = tmp_path / "part.duckdb"
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            "CREATE AGREEMENT north (w NEUTRAL); CREATE TABLE t AS SELECT range % 5 AS w FROM range(50);"
            "CREATE RELEASE s.r FROM t (w NEUTRAL) WITH (agreement = 'north')"
        )
        owner.publish("s.r", to=file)
    assert file.read_bytes().endswith(b"ppdm-signatures")
    code = (
        "import duckdb, json, sys; connection = duckdb.connect(sys.argv[1], read_only=True);"
        "print(json.dumps(connection.execute('SELECT count(*), sum(w)::INT FROM s.r').fetchall()))"
    )
    assert run(client, code, file) == [[50, 100]]


def test_polars_and_pandas_read_a_folder_as_one_table(tmp_path: Path) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(PEOPLE)
        owner.execute(
            "CREATE RELEASE research.people FROM clinic.people (age NEUTRAL, ward NEUTRAL)"
        )
        owner.publish("research.people", to=f"{tmp_path}/out/", format="parquet")
    code = (
        "import json, sys, pandas, polars;"
        "print(json.dumps([polars.read_parquet(sys.argv[1]).shape, pandas.read_parquet(sys.argv[1]).shape]))"
    )
    assert run("1.5", code, tmp_path / "out") == [[6, 2], [6, 2]]
