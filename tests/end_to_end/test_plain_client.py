"""A release outlives the connection that made it, and needs none of our code to be read."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from tests.conftest import PEOPLE

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

RULES = """(
    id      KEY       AS pseudonym(prefix => 'P-'),
    weight  SENSITIVE AS graded_grouping(bands => [30, 60, 90, 120]),
    illness SENSITIVE AS mapping(prefix => 'Illness') THEN mapping(prefix => 'Again'),
    ward    NEUTRAL
)"""
CREATE = f"CREATE RELEASE research.people FROM clinic.people {RULES}"


@pytest.fixture(scope="module")
def template(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, list[tuple[object, ...]]]:
    path = tmp_path_factory.mktemp("template") / "owner" / "clinic.duckdb"
    with ppdm_sql.connect(path) as owner:
        owner.execute(PEOPLE)
        owner.execute(CREATE)
        rows = owner.execute("FROM research.people ORDER BY ALL").fetchall()
    assert len(rows) == 6
    assert len(set(rows)) == 6
    return path, rows


@pytest.fixture
def released(
    safe: Path, template: tuple[Path, list[tuple[object, ...]]]
) -> tuple[Path, list[tuple[object, ...]]]:
    """A store with a release, closed; and what the release answered when it was made."""
    path, rows = template
    shutil.copytree(path.parent, safe.parent)
    return safe, rows


def test_the_next_connection_reads_the_same(
    released: tuple[Path, list[tuple[object, ...]]],
) -> None:
    safe, rows = released
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM research.people ORDER BY ALL").fetchall() == rows
        assert [info.release for info in owner.releases()] == ["research.people"]
        owner.execute("REFRESH RELEASE research.people")
        assert owner.execute("FROM research.people ORDER BY ALL").fetchall() == rows


@pytest.mark.parametrize(
    "before",
    [
        "CREATE SCHEMA other; USE other",
        "CREATE SCHEMA other; CREATE TABLE other.people (id INTEGER); USE other",
        "CREATE SCHEMA other; SET search_path = 'ppdm_store.other,ppdm_store.clinic'",
        "USE clinic",
        "USE research",
        "USE ppdm_owner",
        "ATTACH ':memory:' AS elsewhere; USE elsewhere",
        "ATTACH ':memory:' AS other; CREATE SCHEMA other.clinic; USE other.clinic",
    ],
)
def test_the_release_means_the_same_from_any_schema_and_database(
    released: tuple[Path, list[tuple[object, ...]]], before: str
) -> None:
    safe, rows = released
    with ppdm_sql.connect(safe) as owner:
        owner.execute(before)
        read = "FROM ppdm_store.research.people ORDER BY ALL"
        assert owner.execute(read).fetchall() == rows
        owner.execute("REFRESH RELEASE research.people")
        assert owner.execute(read).fetchall() == rows
        assert [info.version for info in owner.releases()] == [2]


@pytest.mark.parametrize(
    ("where", "source"),
    [
        ("USE clinic", "people"),
        ("USE clinic", "(SELECT * FROM people)"),
        ("USE clinic", "(WITH p AS (SELECT * FROM people) SELECT * FROM p)"),
        ("USE clinic", "(SELECT * FROM people WHERE id IN (SELECT id FROM people))"),
        (
            "USE clinic",
            "(SELECT * FROM people WHERE id IN (WITH people AS (SELECT 1 AS id) FROM people))",
        ),
        ("CREATE SCHEMA a; SET search_path = 'ppdm_store.a,ppdm_store.clinic'", "people"),
        (
            "CREATE SCHEMA a; SET search_path = 'ppdm_store.a,ppdm_store.clinic'",
            "(SELECT * FROM people)",
        ),
        ("USE clinic; CREATE VIEW v AS SELECT * FROM people", "v"),
        ("ATTACH ':memory:' AS other; USE other", "ppdm_store.clinic.people"),
        ("ATTACH ':memory:' AS other; USE other", "(SELECT * FROM ppdm_store.clinic.people)"),
    ],
)
def test_a_short_name_means_what_it_meant_when_the_release_was_made(
    safe: Path, where: str, source: str
) -> None:
    """A name that cannot be completed may be refused, but not kept as it is."""
    with ppdm_sql.connect(safe) as owner:
        owner.execute(PEOPLE)
        owner.execute(where)
        try:
            owner.execute(f"CREATE RELEASE research.people FROM {source} (ward NEUTRAL)")
        except ppdm_sql.PpdmError:
            assert owner.releases() == []
            return
        rows = owner.execute("FROM ppdm_store.research.people ORDER BY ALL").fetchall()
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM research.people ORDER BY ALL").fetchall() == rows
        owner.execute("CREATE SCHEMA more; USE more; REFRESH RELEASE research.people")
        assert owner.execute("FROM research.people ORDER BY ALL").fetchall() == rows


def test_a_release_without_a_schema_is_made_in_the_current_one(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(PEOPLE)
        owner.execute("CREATE SCHEMA research; USE research")
        owner.execute(f"CREATE RELEASE people FROM clinic.people {RULES}")
        assert [info.release for info in owner.releases()] == ["research.people"]
        owner.execute("USE clinic")
        with pytest.raises(ppdm_sql.BindError, match=r"already a table 'clinic\.people'"):
            owner.execute(f"CREATE RELEASE people FROM clinic.people {RULES}")
        with pytest.raises(ppdm_sql.BindError, match="no release 'people'"):
            owner.execute("DROP RELEASE people")


def test_while_another_database_is_in_use_a_release_is_made_in_the_owners(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute(PEOPLE)
        owner.execute("ATTACH ':memory:' AS other; USE other")
        owner.execute(f"CREATE RELEASE people FROM ppdm_store.clinic.people {RULES}")
        assert [info.release for info in owner.releases()] == ["main.people"]
    with ppdm_sql.connect(safe) as owner:
        assert len(owner.execute("FROM people").fetchall()) == 6


def test_a_source_in_an_attached_database_is_read_when_it_is_attached_again(
    safe: Path, tmp_path: Path
) -> None:
    with duckdb.connect(str(tmp_path / "raw.duckdb")) as raw:
        raw.execute(PEOPLE)
    attach = f"ATTACH '{tmp_path / 'raw.duckdb'}' AS raw (READ_ONLY)"
    with ppdm_sql.connect(safe) as owner:
        owner.execute(attach)
        owner.execute(CREATE.replace("clinic.people", "raw.clinic.people"))
        rows = owner.execute("FROM research.people ORDER BY ALL").fetchall()
        assert [info.source for info in owner.releases()] == ["raw.clinic.people"]
    with ppdm_sql.connect(safe) as owner:
        with pytest.raises(ppdm_sql.EngineError):
            owner.execute("FROM research.people").fetchall()
        with pytest.raises(ppdm_sql.PpdmError):
            owner.execute("REFRESH RELEASE research.people")
        assert [info.version for info in owner.releases()] == [1]
        owner.execute(attach)
        owner.execute("REFRESH RELEASE research.people")
        assert owner.execute("FROM research.people ORDER BY ALL").fetchall() == rows


# Files


def write_files(folder: Path) -> None:
    with duckdb.connect() as raw:
        raw.execute("CREATE TABLE t AS SELECT range AS id, 'w' || range % 3 AS ward FROM range(9)")
        raw.execute(f"COPY t TO '{folder / 'people.parquet'}'").fetchall()
        raw.execute(f"COPY t TO '{folder / 'people.csv'}'").fetchall()


@pytest.mark.parametrize(
    "source",
    [
        "'people.parquet'",
        "'people.csv'",
        "'./people.csv'",
        "'sub/../people.parquet'",
        "'people.*.csv'",
        "(SELECT * FROM 'people.parquet')",
        "(SELECT * FROM 'people.csv')",
        "(SELECT * FROM read_csv('people.csv'))",
        "(SELECT * FROM read_parquet(['people.parquet']))",
        "(WITH p AS (SELECT * FROM 'people.csv') SELECT * FROM p)",
        "(SELECT a.* FROM 'people.csv' AS a JOIN 'people.parquet' AS b USING (id))",
    ],
)
def test_a_relative_path_means_the_same_file_from_every_folder(
    safe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """A path that cannot be made absolute may be refused, but not kept as it is."""
    here, there = tmp_path / "here", tmp_path / "there"
    (here / "sub").mkdir(parents=True)
    there.mkdir()
    write_files(here)
    (here / "people.1.csv").write_bytes((here / "people.csv").read_bytes())
    monkeypatch.chdir(here)
    with ppdm_sql.connect(safe) as owner:
        try:
            owner.execute(
                f"CREATE RELEASE r FROM {source} (id KEY AS pseudonym(),"
                " ward SENSITIVE AS mapping())"
            )
        except ppdm_sql.PpdmError:
            assert owner.releases() == []
            return
        rows = owner.execute("FROM r ORDER BY ALL").fetchall()
        assert len(rows) == 9
    monkeypatch.chdir(there)
    with ppdm_sql.connect(safe) as owner:
        assert owner.execute("FROM r ORDER BY ALL").fetchall() == rows
        owner.execute("REFRESH RELEASE r")
        assert owner.execute("FROM r ORDER BY ALL").fetchall() == rows


@pytest.mark.parametrize("name", ["it's.csv", 'a "b".csv', "a;b.csv", "ümlaut ☃.csv", "x -- y.csv"])
def test_a_file_may_have_an_odd_name(owner: Owner, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("id,ward\n1,A\n")
    path = str(tmp_path / name).replace("'", "''")
    owner.execute(f"CREATE RELEASE r FROM '{path}' (ward NEUTRAL)")
    assert owner.execute("FROM r").fetchall() == [("A",)]
    assert [info.source for info in owner.releases()] == [str(tmp_path / name)]
    owner.execute("REFRESH RELEASE r")


# Plain DuckDB


@pytest.mark.parametrize("stem", ["owner", "ppdm_store", "my 'file'; --"])
def test_a_plain_client_reads_the_release(
    released: tuple[Path, list[tuple[object, ...]]], tmp_path: Path, stem: str
) -> None:
    safe, rows = released
    copy = tmp_path / f"{stem}.duckdb"
    copy.write_bytes(safe.read_bytes())
    code = (
        "import sys, duckdb\n"
        "c = duckdb.connect(sys.argv[1], read_only=True)\n"
        "c.execute('USE \"' + sys.argv[2] + '\".main')\n"
        "print(c.execute('FROM \"' + sys.argv[2] + '\".research.people ORDER BY ALL').fetchall())\n"
        "print([m for m in sys.modules if m.startswith('ppdm')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(copy), stem],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    assert done.stderr == ""
    assert done.stdout == f"{rows}\n[]\n"


def test_a_plain_client_attaches_the_file_under_any_name(
    released: tuple[Path, list[tuple[object, ...]]],
) -> None:
    safe, rows = released
    with duckdb.connect() as raw:
        raw.execute(f"ATTACH '{safe}' AS whatever (READ_ONLY)")
        assert raw.execute("FROM whatever.research.people ORDER BY ALL").fetchall() == rows


def test_the_text_of_a_view_does_not_name_our_alias_of_the_database(
    released: tuple[Path, list[tuple[object, ...]]],
) -> None:
    safe, _ = released
    with duckdb.connect(str(safe), read_only=True) as raw:
        texts = raw.execute("SELECT sql FROM duckdb_views() WHERE NOT internal").fetchall()
    assert len(texts) == 1
    assert not re.search("ppdm_store", texts[0][0])


def test_the_file_of_the_safe_is_not_left_open(
    released: tuple[Path, list[tuple[object, ...]]],
) -> None:
    safe, _ = released
    assert {path.name for path in safe.parent.iterdir()} == {safe.name, f".{safe.name}.lock"}
    with duckdb.connect(str(safe)) as raw:
        raw.execute("CREATE TABLE by_somebody_else (i INTEGER)")


def test_what_explain_prints_can_be_run_by_a_plain_client(
    released: tuple[Path, list[tuple[object, ...]]],
) -> None:
    safe, rows = released
    with ppdm_sql.connect(safe) as owner:
        text = owner.explain("research.people")
    with duckdb.connect() as raw:
        raw.execute(f"ATTACH '{safe}' AS whatever (READ_ONLY); USE whatever")
        assert raw.execute(f"FROM ({text}) ORDER BY ALL").fetchall() == rows
