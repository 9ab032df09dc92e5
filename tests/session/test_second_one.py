"""What must hold when a second one comes in: a connection, a file of somebody else, a name of ours."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import ppdm_sql
from ppdm_sql import EngineError, Refused, StoreError
from ppdm_sql.delivery.signature import sign
from ppdm_sql.engine import duckdb as duckdb_engine
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.names import Name

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

TRY = """
import sys, duckdb, ppdm_sql
try:
    {statement}
    print("opened")
except (duckdb.Error, ppdm_sql.StoreError) as error:
    print("refused")
"""


def opened_elsewhere(path: Path, statement: str) -> bool:
    """Whether another process gets in."""
    code = TRY.format(statement=statement.format(path=str(path)))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout in ("opened\n", "refused\n")
    return done.stdout == "opened\n"


# The lock of the store

BY_DUCKDB = "duckdb.connect({path!r})"
BY_US = "ppdm_sql.connect({path!r})"


@pytest.mark.parametrize("by", [BY_DUCKDB, BY_US])
def test_a_second_connect_leaves_the_lock_of_the_first(safe: Path, by: str) -> None:
    with ppdm_sql.connect(safe):
        with pytest.raises(StoreError, match="already open in this process"):
            ppdm_sql.connect(safe)
        assert not opened_elsewhere(safe, by)
    assert opened_elsewhere(safe, by)


def test_a_second_connect_after_the_folder_was_opened_wide_leaves_the_lock(safe: Path) -> None:
    with ppdm_sql.connect(safe):
        safe.parent.chmod(0o755)
        with pytest.raises(StoreError, match="others may enter"):
            ppdm_sql.connect(safe)
        safe.parent.chmod(0o700)
        assert not opened_elsewhere(safe, BY_US)


def test_reading_the_file_in_this_process_leaves_the_store_locked(safe: Path) -> None:
    """POSIX drops DuckDB's lock when any handle of the file is closed; ours is on another file."""
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i")
        safe.read_bytes()
        assert opened_elsewhere(safe, "duckdb.connect({path!r}, read_only=True)")
        assert not opened_elsewhere(safe, BY_US)


def test_the_lock_goes_with_an_owner_that_nobody_closed(safe: Path) -> None:
    owner = ppdm_sql.connect(safe)
    del owner
    with ppdm_sql.connect(safe) as again:
        assert again.releases() == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded")
def test_a_forked_process_does_not_keep_the_lock(safe: Path) -> None:
    owner = ppdm_sql.connect(safe)
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        owner.close()
        assert opened_elsewhere(safe, BY_US)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_forked_process_that_ends_does_not_give_the_lock_away(tmp_path: Path) -> None:
    """In a process of its own: a fork of the test runner would end as one."""
    safe = tmp_path / "owner" / "clinic.duckdb"
    code = (
        "import os, sys, pathlib, ppdm_sql\n"
        f"owner = ppdm_sql.connect({str(safe)!r}); trial = ppdm_sql.connect(':memory:')\n"
        "(folder,) = trial.execute(\"SELECT current_setting('temp_directory')\").fetchone()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n"
        "        owner.execute('CREATE TABLE lost AS SELECT 1 AS i')\n"
        "    except ppdm_sql.EngineError as error:\n"
        "        print(error.code, flush=True)\n"
        "    sys.exit()\n"  # however it ends: DuckDB may crash in a fork that lets go of it
        "os.waitpid(child, 0); print(pathlib.Path(folder).exists(), flush=True)\n"
        "input()\n"
        "owner.execute('CREATE TABLE kept AS SELECT 1 AS i'); owner.close()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "open_elsewhere\n"
        assert parent.stdout.readline() == "True\n"
        safe.read_bytes()
        assert not opened_elsewhere(safe, BY_US)
        parent.communicate("\n")
    assert parent.returncode == 0
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM kept").fetchall() == [(1,)]


# Where a trial in memory spills


def test_what_a_trial_spills_is_nobody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute("SET memory_limit = '64MB'; SET threads = 1")
        owner.execute("CREATE TABLE t AS SELECT i, hash(i) AS h FROM range(4000000) r (i)")
        ((spill,),) = owner.execute("SELECT current_setting('temp_directory')").fetchall()
        assert list(Path(spill).iterdir()), "this was meant to spill"
        assert stat.S_IMODE(Path(spill).stat().st_mode) == 0o700
        assert os.listdir() == []
    assert not Path(spill).exists()


# Names of ours


@pytest.mark.parametrize("name", ["ppdm_person_number", "PPDM_anything", "ppdm_"])
def test_no_column_of_a_release_begins_like_ours(owner: Owner, name: str) -> None:
    owner.execute(f'CREATE TABLE t AS SELECT i AS id, i % 2 AS "{name}" FROM range(9) r (i)')
    with pytest.raises(Refused, match="may not be called") as caught:
        owner.execute(f"CREATE RELEASE r.t FROM t (id KEY, {name} QUASI)")
    assert caught.value.line == 1
    assert "reserved" in str(caught.value)
    assert owner.releases() == []


def test_persons_are_counted_by_their_key_whatever_a_column_is_called(owner: Owner) -> None:
    """A column that stands for the number of the person would make every class as large as it says."""
    owner.execute(
        "CREATE TABLE t AS SELECT i // 3 AS id, i // 6 AS age, i AS ppdm_person_number"
        " FROM range(12) r (i)"
    )
    script = "CREATE RELEASE r.t FROM t (id KEY, age QUASI{}) GENERALIZE age UNTIL k = 3"
    with pytest.raises(Refused, match="may not be called"):
        owner.execute(script.format(", ppdm_person_number NEUTRAL"))
    owner.execute(script.format(""))
    assert owner.execute("SELECT DISTINCT age FROM r.t").fetchall() == [("*",)]


@pytest.mark.parametrize("name", ["ppdm_x.t", "r.ppdm_t"])
def test_no_release_is_called_like_ours(people: Owner, name: str) -> None:
    with pytest.raises(Refused, match="may not be called"):
        people.execute(f"CREATE RELEASE {name} FROM clinic.people (ward NEUTRAL)")


def test_no_agreement_has_a_column_like_ours(owner: Owner) -> None:
    with pytest.raises(Refused, match="may not be called"):
        owner.execute("CREATE AGREEMENT a (ppdm_key KEY AS pseudonym())")


# Files of somebody else: what combine reads

RELEASE_INFO = (
    "SELECT 's.r' AS release, 1 AS version, NULL::TIMESTAMP AS published_at, 1 AS rows,"
    " '' AS treatments, NULL AS targets, 'p' AS publication, 'a' AS agreement"
)


SITE = Ed25519PrivateKey.generate()
"""The key of an agreement: a site that lies is one of those who have it."""


def forged(path: Path, statements: str) -> Path:
    agreed = statements.replace("'a' AS agreement", f"'{FINGERPRINT}' AS agreement")
    with duckdb.connect(path) as file:
        file.execute(f"CREATE SCHEMA s; CREATE TABLE s.r AS SELECT 1 AS id; {agreed}")
    sign(path, [SITE])
    return path


FINGERPRINT = SITE.public_key().public_bytes_raw().hex()


@pytest.mark.parametrize(
    ("what", "statements"),
    [
        (
            "view",
            (
                "CREATE VIEW release_info AS SELECT 's.r' AS release, 1 AS version, said AS"
                " agreement FROM json_execute_serialized_sql(json_serialize_sql("
                "'SELECT content AS said FROM read_text(''{secret}'')'))"
            ),
        ),
        ("view", f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE VIEW s.v AS SELECT 1"),
        ("macro", f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE MACRO lower(x) AS x"),
        ("sequence", f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE SEQUENCE q"),
        ("type", f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE TYPE e AS ENUM ('a')"),
        ("index", f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE INDEX i ON s.r (id)"),
        (
            "generated column",
            (
                f"CREATE TABLE release_info AS {RELEASE_INFO};"
                " CREATE TABLE s.g (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1))"
            ),
        ),
    ],
)
def test_combine_runs_nothing_of_a_part(tmp_path: Path, what: str, statements: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret of the miner")
    part = forged(tmp_path / "part.duckdb", statements.format(secret=secret))
    with pytest.raises(Refused, match=f"contains more than tables: .*{what}") as caught:
        ppdm_sql.combine(
            part, part, to=tmp_path / "study.duckdb", agreement=FINGERPRINT, how="stack"
        )
    assert "a secret" not in str(caught.value)
    assert not (tmp_path / "study.duckdb").exists()


def test_combine_takes_no_column_like_ours(tmp_path: Path) -> None:
    part = forged(
        tmp_path / "part.duckdb",
        f"CREATE TABLE release_info AS {RELEASE_INFO}; ALTER TABLE s.r ADD COLUMN ppdm_key INTEGER",
    )
    with pytest.raises(Refused, match="ppdm_key"):
        ppdm_sql.combine(
            part, part, to=tmp_path / "study.duckdb", agreement=FINGERPRINT, how="join"
        )


# Files of somebody else: what PUBLISH replaces


@pytest.fixture
def publisher(people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    people.execute("CREATE RELEASE open.wards FROM clinic.people (ward NEUTRAL)")
    return people


@pytest.mark.parametrize(
    "statements",
    [
        "CREATE VIEW release_info AS SELECT 1 AS i; CREATE TABLE years_of_work AS SELECT 1 AS i",
        "CREATE TABLE release_info AS SELECT 1 AS i",
        f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE TABLE years_of_work (i INTEGER)",
        f"CREATE TABLE release_info AS {RELEASE_INFO}; CREATE VIEW v AS SELECT 1 AS i",
        f"CREATE TABLE release_info AS {RELEASE_INFO} WHERE false",
        f"CREATE TABLE release_info AS SELECT * REPLACE ('no name' AS release) FROM ({RELEASE_INFO})",
        f"CREATE TABLE release_info AS SELECT * REPLACE (1 AS release) FROM ({RELEASE_INFO})",
        f"CREATE TABLE release_info AS SELECT *, 1 AS notes FROM ({RELEASE_INFO})",
    ],
)
def test_a_file_that_only_looks_like_a_publication_is_not_replaced(
    publisher: Owner, statements: str
) -> None:
    theirs = forged(Path("theirs.duckdb"), statements)
    before = theirs.read_bytes()
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to=theirs)
    assert theirs.read_bytes() == before


def test_a_store_is_not_replaced(publisher: Owner, safe: Path) -> None:
    with ppdm_sql.connect(safe) as other:
        other.execute(
            f"CREATE TABLE t AS SELECT 1 AS i; CREATE RELEASE r.t FROM t (i NEUTRAL);"
            f"CREATE TABLE release_info AS {RELEASE_INFO}"
        )
    before = safe.read_bytes()
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to=safe)
    assert safe.read_bytes() == before


def write_parquet(path: Path, **columns: list[Any]) -> None:
    pyarrow.parquet.write_table(pa.table(columns), path)


def test_a_folder_with_somebody_elses_parquet_is_not_replaced(publisher: Owner) -> None:
    publisher.publish("open.wards", to="out/", format="parquet")
    publisher.publish("open.wards", to="out/", format="parquet")
    Path("out").chmod(0o755)
    write_parquet(Path("out/years_of_work.parquet"), i=[1])
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to="out/", format="parquet")
    assert Path("out/years_of_work.parquet").exists()


def test_a_folder_whose_list_is_another_is_not_replaced(publisher: Owner) -> None:
    Path("out").mkdir()
    write_parquet(Path("out/release_info.parquet"), i=[1])
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to="out/", format="parquet")
    Path("out/release_info.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to="out/", format="parquet")
    Path("out/release_info.parquet").rename("out/open.wards.parquet")
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to="out/", format="parquet")


@pytest.mark.parametrize("said", ["no JSON", "[1]", "7", "{}", '{"release": "open.others"}'])
def test_a_folder_whose_files_say_something_else_is_not_replaced(
    publisher: Owner, said: str
) -> None:
    Path("out").mkdir()
    table = pa.table({"i": [1]}).replace_schema_metadata({"ppdm:release_info": said})
    pyarrow.parquet.write_table(table, "out/open.wards.parquet")
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to="out/", format="parquet")


def test_what_an_earlier_program_published_is_replaced(publisher: Owner) -> None:
    """Its list had one column less."""
    publisher.publish("open.wards", to="study.duckdb")
    Path("study.duckdb").chmod(0o600)
    with closing(duckdb.connect("study.duckdb")) as file:
        file.execute("ALTER TABLE release_info DROP COLUMN agreement")
    publisher.publish("open.wards", to="study.duckdb")


@pytest.mark.parametrize("format_", ["duckdb", "parquet"])
def test_what_appears_while_a_publication_is_written_is_not_replaced(
    publisher: Owner, format_: str
) -> None:
    target = Path("study.duckdb") if format_ == "duckdb" else Path("out")

    def appear(stage: str) -> None:
        if stage.startswith("putting") and not target.exists():
            if format_ == "duckdb":
                target.write_text("years of work")
            else:
                target.mkdir()
                (target / "thesis.txt").write_text("years of work")

    publisher.on_stage(appear)
    with pytest.raises((Refused, StoreError)):
        publisher.publish("open.wards", to=target, format=format_)
    kept = target if format_ == "duckdb" else target / "thesis.txt"
    assert kept.read_text() == "years of work"
    assert publisher.publications() == []


def test_a_folder_inside_a_folder_is_not_part_of_a_publication(publisher: Owner) -> None:
    publisher.publish("open.wards", to="out/", format="parquet")
    inside = Path("out/open.wards.parquet")
    inside.unlink()
    inside.mkdir()
    (inside / "thesis.txt").write_text("years of work")
    with pytest.raises(Refused, match="is not a publication"):
        publisher.publish("open.wards", to="out/", format="parquet")


@pytest.mark.parametrize("name", ["clinic.duckdb.wal", "clinic.duckdb.spill"])
def test_names_of_duckdbs_own_files_are_no_place_to_publish_to(publisher: Owner, name: str) -> None:
    with pytest.raises(Refused, match="DuckDB's own files") as caught:
        publisher.publish("open.wards", to=name, format="duckdb")
    assert caught.value.code == "bad_path"


def test_a_part_without_a_list_of_releases_is_no_publication(tmp_path: Path) -> None:
    part = forged(tmp_path / "part.duckdb", "CREATE TABLE release_info AS SELECT 1 AS i")
    with pytest.raises(StoreError, match="is not a publication"):
        ppdm_sql.combine(part, part, to=tmp_path / "study.duckdb", agreement=FINGERPRINT)


def test_only_duckdbs_own_reader_opens_a_file() -> None:
    """DuckDB would fetch and run an extension for a file of another kind, by its first bytes."""
    text = to_sql(duckdb_engine._attach("part.duckdb", Name("a")))
    assert "TYPE duckdb" in text.replace('"', "")


# Transactions and errors


def test_show_releases_keeps_a_transaction_whose_source_is_gone(owner: Owner) -> None:
    owner.execute("CREATE TABLE s AS SELECT i AS id, i AS age FROM range(9) r (i)")
    owner.execute("CREATE TABLE t (i INTEGER)")
    owner.execute("CREATE RELEASE r.s FROM s (id KEY, age QUASI) GENERALIZE age UNTIL k = 2")
    owner.execute("DROP TABLE s")
    owner.execute("BEGIN; INSERT INTO t VALUES (1)")
    assert [info.waiting for info in owner.releases()] == [None]
    owner.execute("COMMIT")
    assert owner.execute("FROM t").fetchall() == [(1,)]


def test_a_commit_that_fails_tells_no_value(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t (name VARCHAR PRIMARY KEY)")
        other = owner.connection.cursor()
        other.execute("USE ppdm_store; BEGIN; INSERT INTO t VALUES ('Xanthippe')")
        owner.execute("BEGIN; INSERT INTO t VALUES ('Xanthippe')")
        other.execute("COMMIT")
        with pytest.raises(EngineError) as caught:
            owner.execute("COMMIT")
        assert "Xanthippe" not in str(caught.value)
        assert "Xanthippe" not in caught.value.engine_text


# A second column behind one name


def test_a_refresh_follows_a_source_that_became_another_column(owner: Owner) -> None:
    """Kept keys would give two columns one pseudonym and one noise, which then cancels out."""
    for name, first in (("a", 0), ("b", 100)):
        owner.execute(
            f"CREATE TABLE {name} AS SELECT i AS id, i + {first} AS x FROM range(5) r (i)"
        )
    owner.execute("CREATE VIEW v AS FROM a")
    for name in ("a", "v"):
        owner.execute(
            f"CREATE RELEASE r.{name} FROM {name} (id KEY AS pseudonym(),"
            " x SENSITIVE AS noise(normal(0, 9)))"
        )
    met = "SELECT count(*) FROM r.a JOIN r.v USING (id)"
    assert owner.execute(met).fetchall() == [(5,)]
    owner.execute("CREATE OR REPLACE VIEW v AS FROM b; REFRESH RELEASE r.v")
    assert owner.execute(met).fetchall() == [(0,)]
