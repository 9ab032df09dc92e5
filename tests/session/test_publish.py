"""PUBLISH RELEASE: what is in the new file, in which order, and what it takes the place of."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import stat
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ppdm_sql
from ppdm_sql.delivery.destinations import parquet_name
from ppdm_sql.delivery.workplace import WORKPLACE_PREFIX
from ppdm_sql.names import QualifiedName, quote
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.kernels.keyed_name import KEY_BYTES, TAG
from tests.releases import version_of

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

RELEASES = """
CREATE RELEASE research.people FROM clinic.people (
    id KEY AS pseudonym(), name IDENTIFIER,
    age QUASI AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    weight SENSITIVE AS scaling(by => 2) THEN translation(by => 1),
    illness SENSITIVE AS mapping(prefix => 'Illness'), ward NEUTRAL
);
CREATE RELEASE research.wards FROM clinic.people (id KEY AS pseudonym(length => 20), ward NEUTRAL);
CREATE RELEASE open.wards FROM clinic.people (ward NEUTRAL);
"""


@pytest.fixture
def releases(people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    people.execute(RELEASES)
    return people


def ask(file: str, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(file, read_only=True) as client:
        return client.execute(query).fetchall()


def test_every_release_is_a_table_under_its_own_name(releases: Owner) -> None:
    done = releases.execute("PUBLISH RELEASE research.people, open.wards TO 'study.duckdb'")
    assert done.message == (
        "published research.people (version 1, 6 rows), open.wards (version 1, 6 rows) to "
        f"'{Path('study.duckdb').absolute()}'"
    )
    tables = "SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL"
    assert ask("study.duckdb", tables) == [
        ("main", "codebook"),
        ("main", "release_info"),
        ("open", "wards"),
        ("research", "people"),
    ]
    live = releases.execute("FROM research.people ORDER BY id").fetchall()
    assert ask("study.duckdb", "FROM research.people ORDER BY id") == live
    weights = ask("study.duckdb", "SELECT weight FROM research.people ORDER BY weight")
    assert weights == [(111.0,), (124.0,), (145.0,), (161.5,), (199.0,), (None,)]


def test_columns_say_role_and_treatment(releases: Owner) -> None:
    releases.execute("PUBLISH RELEASE research.people TO 'study.duckdb'")
    comments = "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = 'people'"
    assert ask("study.duckdb", f"{comments} ORDER BY column_index") == [
        ("id", "KEY, pseudonym"),
        ("age", "QUASI, graded_grouping"),
        ("weight", "SENSITIVE, scaling then translation"),
        ("illness", "SENSITIVE, mapping"),
        ("ward", "NEUTRAL, keep"),
    ]


def test_release_info_says_what_is_there(releases: Owner) -> None:
    releases.execute("REFRESH RELEASE open.wards")
    releases.execute("PUBLISH RELEASE open.wards, research.wards TO 'study.duckdb'")
    info = ask("study.duckdb", "FROM release_info")
    assert [(*row[:2], *row[3:6]) for row in info] == [
        ("open.wards", 2, 6, "ward: keep", None),
        ("research.wards", 1, 6, "id: pseudonym, ward: keep", None),
    ]
    (first, second) = releases.publications()
    assert {row[2] for row in info} == {first.publication.published_at}
    assert {row[6] for row in info} == {first.publication.name} == {second.publication.name}
    assert (first.version, first.rows, str(first.release)) == (2, 6, "open.wards")
    assert first.publication.path == str(Path("study.duckdb").absolute())


def test_the_file_is_read_only_alone_and_of_an_old_storage_version(releases: Owner) -> None:
    releases.execute("PUBLISH RELEASE research.people TO 'study.duckdb'")
    assert os.listdir() == ["study.duckdb"]
    assert stat.S_IMODE(Path("study.duckdb").stat().st_mode) == 0o444
    versions = "SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal"
    assert ask("study.duckdb", versions)[0][0].startswith("v1.2.0")


def test_rows_are_in_another_order_each_time(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE t AS SELECT range AS i FROM range(5000)")
    owner.execute(
        "CREATE RELEASE r.t FROM t (i KEY AS keep()); CREATE RELEASE r.u FROM t (i KEY AS keep())"
    )
    file = tmp_path / "study.duckdb"
    orders = []
    for _ in range(2):
        owner.execute("SELECT setseed(0.5)")  # an owner's seed must not fix the order
        owner.execute("SET threads = 1")
        owner.publish("r.t", "r.u", to=file)
        orders += [[i for (i,) in ask(str(file), f"FROM r.{name}")] for name in "tu"]
    source = list(range(5000))
    for order in orders:
        assert sorted(order) == source
        # In a random order a row follows its predecessor once in 5000: 13 times has p < 1e-10.
        for other in (source, *(other for other in orders if other is not order)):
            place = {value: at for at, value in enumerate(other)}
            kept = sum(place[b] - place[a] == 1 for a, b in itertools.pairwise(order))
            assert kept < 13


def test_the_source_as_it_is_now_is_published_even_if_the_view_is_gone(releases: Owner) -> None:
    releases.execute("DELETE FROM clinic.people WHERE id > 2; DROP VIEW research.people")
    releases.execute("PUBLISH RELEASE research.people TO 'study.duckdb'")
    assert ask("study.duckdb", "SELECT count(*), count(illness) FROM research.people") == [(2, 2)]
    assert ask("study.duckdb", "SELECT rows FROM release_info") == [(2,)]


def test_releases_that_share_pseudonyms_are_warned_of(releases: Owner) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        releases.execute("PUBLISH RELEASE research.people, open.wards TO 'study.duckdb'")
    words = "research.people and research.wards share pseudonyms"
    with pytest.warns(ppdm_sql.PrivacyWarning, match=words):
        releases.execute("PUBLISH RELEASE research.people, research.wards TO 'study.duckdb'")
    joined = "SELECT count(*) FROM research.people p JOIN research.wards w ON w.id[:16] = p.id"
    assert ask("study.duckdb", joined) == [(6,)]


@pytest.mark.filterwarnings("ignore:.*share pseudonyms:ppdm_sql.errors.PrivacyWarning")
@pytest.mark.parametrize("option", ["unlinkable = true", "linkable = 'publication'"])
def test_unlinkable_publications_are_joined_in_one_file_and_with_nothing_else(
    releases: Owner, option: str
) -> None:
    for name in ("one", "two"):
        releases.execute(
            f"PUBLISH RELEASE research.people, research.wards TO '{name}.duckdb' WITH ({option})"
        )
    live = {row[0] for row in releases.execute("SELECT id FROM research.people").fetchall()}
    seen = [live]
    for name in ("one", "two"):
        for table in ("people", "wards"):
            rows = ask(f"{name}.duckdb", f"SELECT id[:16] FROM research.{table}")
            seen.append({word for (word,) in rows})
    assert [len(names) for names in seen] == [6] * 5
    assert len(set.union(*seen)) == 18
    assert seen[1] == seen[2]
    assert seen[3] == seen[4]
    # Everything else is as in the release: the store's own version has not changed.
    others = "SELECT age, weight, illness, ward FROM research.people ORDER BY ALL"
    assert ask("one.duckdb", others) == releases.execute(others).fetchall()
    assert {row[0] for row in releases.execute("SELECT id FROM research.people").fetchall()} == live


def test_the_owner_reads_unlinkable_pseudonyms_back(releases: Owner) -> None:
    releases.publish("research.people", to="study.duckdb", unlinkable=True)
    ((publication,),) = ask("study.duckdb", "SELECT publication FROM release_info")
    ((secret,),) = releases.connection.execute("SELECT root_key FROM ppdm_owner.store").fetchall()
    keys = RootKey(RootKey(secret).derive("key scope", f"publication:{publication}"))
    (identity,) = [
        rule.columns[0].identity
        for rule in version_of(releases, "research.people").release.rules
        if rule.role == "KEY"
    ]
    key = keys.derive("pseudonym", identity)[:KEY_BYTES].hex()
    again = releases.connection.execute(
        "SELECT sha256(? || ? || id)[:16] FROM clinic.people", [key, TAG]
    ).fetchall()
    assert sorted(again) == ask("study.duckdb", "SELECT id FROM research.people ORDER BY id")


def test_unlinkable_pseudonyms_that_collide_are_refused(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key under which two of 100 values share six digits is found, and tried.

    Of so few values, the release's own key makes six digits collide once in 3,000 runs.
    """
    owner.execute("CREATE TABLE t AS SELECT range AS i FROM range(100)")
    release = "CREATE RELEASE r.t FROM t (i KEY AS pseudonym(length => {}))"
    owner.execute(release.format(40))
    name = QualifiedName.of("r", "t")
    ((secret,),) = owner.connection.execute("SELECT root_key FROM ppdm_owner.store").fetchall()
    key_of = version_of(owner).release.rules[0].columns[0].identity

    def collides(publication: str) -> bool:
        keys = RootKey(RootKey(secret).derive("key scope", f"publication:{publication}"))
        whole = keys.derive("pseudonym", key_of)
        key = whole[:KEY_BYTES].hex()
        names = {hashlib.sha256(f"{key}{TAG}{i}".encode()).hexdigest()[:6] for i in range(100)}
        return len(names) < 100

    bad = next(str(i) for i in range(100_000) if collides(str(i)))
    good = next(str(i) for i in range(500) if not collides(str(i)))
    while not owner.releases()[0].version > 1:
        owner.execute("CREATE OR REPLACE RELEASE r.t FROM t (i KEY AS pseudonym(length => 40))")
    shorter = owner._releases.entry(name).definition.replace("40", "6")
    owner.connection.execute("UPDATE ppdm_owner.versions SET definition = ?", [shorter])
    target = tmp_path / "study.duckdb"
    monkeypatch.setattr("ppdm_sql.publish.run.new_name", lambda: bad)
    with pytest.raises(ppdm_sql.TreatmentError, match="would get the same pseudonym"):
        owner.publish("r.t", to=target, unlinkable=True)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr("ppdm_sql.publish.run.new_name", lambda: good)
    owner.publish("r.t", to=target, unlinkable=True)
    assert ask(str(target), "SELECT count(DISTINCT i) FROM r.t") == [(100,)]


def test_the_type_of_an_enum_does_not_list_values_that_no_row_has(
    owner: Owner, tmp_path: Path
) -> None:
    owner.execute("CREATE TYPE mood AS ENUM ('glad', 'Bubonic')")
    owner.execute("CREATE TABLE t AS SELECT 'glad'::mood AS m, 1 AS i")
    owner.execute("CREATE RELEASE r.t FROM t (m NEUTRAL, i NEUTRAL AS suppress())")
    owner.execute("CREATE RELEASE r.u FROM t (m NEUTRAL AS suppress())")
    file = str(tmp_path / "study.duckdb")
    owner.publish("r.t", "r.u", to=file)
    assert ask(file, "SELECT m, typeof(m), i FROM r.t") == [("glad", "VARCHAR", None)]
    assert b"Bubonic" not in Path(file).read_bytes()


def test_names_may_be_anything(owner: Owner, tmp_path: Path) -> None:
    for name in (
        "a \"b\" 'c'; DROP TABLE t; --",
        " a\n\t/../b ",
        "größe ☃ 日本 \u202egnp",
        "%2F..",
    ):
        quoted = quote(name)
        owner.execute(f"CREATE OR REPLACE TABLE t AS SELECT 'v' AS {quoted}")
        owner.execute(f"CREATE RELEASE {quoted}.{quoted} FROM t ({quoted} NEUTRAL)")
        file = tmp_path / "it's a ; study.duckdb"
        owner.execute(
            f"PUBLISH RELEASE {quoted}.{quoted} TO '{str(file).replace(chr(39), chr(39) * 2)}'"
        )
        with ppdm_sql.open_release(file) as study:
            answer = study.sql(f"FROM {quoted}.{quoted}")
            assert (answer.columns, answer.fetchall()) == ([name], [("v",)])
            assert study.sql("SHOW TABLES").fetchall()[-1] in (
                (name, name),
                ("main", "release_info"),
            )
        owner.publish(f"{quoted}.{quoted}", to=tmp_path / "folder", format="parquet")
        found = {path.name for path in (tmp_path / "folder").iterdir()}
        assert found == {parquet_name(QualifiedName.of(name, name))}
        assert not any(letter in "".join(found) for letter in "/\n\"'")


# Parquet


def test_a_folder_of_parquet(releases: Owner) -> None:
    for times in (1, 2):
        releases.execute("PUBLISH RELEASE research.people, open.wards TO 'out/' (FORMAT parquet)")
        assert sorted(os.listdir("out")) == [
            "open.wards.parquet",
            "research.people.parquet",
        ]
        assert sorted(os.listdir()) == ["out", "out.codebook.md"]
        assert len(releases.publications()) == 2 * times
    assert {stat.S_IMODE(path.stat().st_mode) for path in Path("out").iterdir()} == {0o444}
    people = pq.read_table("out/research.people.parquet")
    assert people.num_rows == 6
    metadata = pq.read_metadata("out/research.people.parquet").metadata
    assert metadata[b"weight"] == b"SENSITIVE, scaling then translation"
    info = json.loads(metadata[b"ppdm:release_info"])
    assert (info["release"], info["rows"], info["version"]) == ("research.people", 6, 1)
    listed = duckdb.execute(
        "SELECT json_extract_string(decode(value), '$.release')"
        " FROM parquet_kv_metadata('out/*.parquet') WHERE decode(key) = 'ppdm:release_info'"
        " ORDER BY ALL"
    ).fetchall()
    assert listed == [("open.wards",), ("research.people",)]


def test_a_folder_is_one_table_for_those_who_read_folders(releases: Owner) -> None:
    releases.publish("open.wards", to="out/", format="parquet")
    wards = releases.sql("FROM open.wards").fetchall()
    assert pq.read_table("out").num_rows == len(wards)
    assert len(duckdb.execute("FROM 'out/*.parquet'").fetchall()) == len(wards)


def test_a_folder_of_an_earlier_program_is_replaced(releases: Owner) -> None:
    """Its list was a file of its own."""
    releases.publish("open.wards", to="out/", format="parquet")
    Path("out").chmod(0o700)
    file = Path("out", "open.wards.parquet")
    info = json.loads(pq.read_metadata(file).metadata[b"ppdm:release_info"])
    plain = pq.read_table(file).replace_schema_metadata(None)
    file.unlink()
    pq.write_table(plain, file)
    with pytest.raises(ppdm_sql.Refused, match="is not a publication"):
        releases.publish("open.wards", to="out/", format="parquet")
    pq.write_table(pa.Table.from_pylist([info]), "out/release_info.parquet")
    releases.publish("open.wards", to="out/", format="parquet")
    assert os.listdir("out") == ["open.wards.parquet"]


def test_a_folder_takes_the_place_of_a_publication_or_of_nothing(releases: Owner) -> None:
    Path("empty").mkdir()
    releases.publish("open.wards", to="empty/", format="parquet")
    assert len(os.listdir("empty")) == 1
    Path("mine").mkdir()
    Path("mine", "thesis.txt").write_text("years of work")
    Path("file").write_text("x")
    for target in ("mine", "file"):
        with pytest.raises(ppdm_sql.Refused, match="is not a publication"):
            releases.publish("open.wards", to=target, format="parquet")
    assert Path("mine", "thesis.txt").read_text() == "years of work"


def test_a_folder_that_cannot_be_swapped_is_told(
    releases: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases.publish("open.wards", to="out", format="parquet")
    before = Path("out", "open.wards.parquet").read_bytes()

    def no_swap(*_: object) -> None:
        raise OSError(38, "this system cannot swap two folders in one step")

    monkeypatch.setattr("ppdm_sql.delivery.workplace._rename", no_swap)
    with pytest.raises(ppdm_sql.StoreError, match="cannot swap two folders"):
        releases.publish("open.wards", to="out", format="parquet")
    assert Path("out", "open.wards.parquet").read_bytes() == before
    assert sorted(os.listdir()) == ["out", "out.codebook.md"]
    assert len(releases.publications()) == 1


# What it takes the place of


def test_nothing_but_a_publication_is_replaced(releases: Owner) -> None:
    Path("thesis.txt").write_text("years of work")
    with duckdb.connect("other.duckdb") as other:
        other.execute("CREATE TABLE t AS SELECT 1 AS i")
    before = Path("other.duckdb").read_bytes()
    for target in ("thesis.txt", "other.duckdb"):
        with pytest.raises(ppdm_sql.Refused, match="is not a publication"):
            releases.publish("open.wards", to=target)
    assert Path("thesis.txt").read_text() == "years of work"
    assert Path("other.duckdb").read_bytes() == before
    releases.publish("open.wards", to="study.duckdb")
    Path("link.duckdb").symlink_to("study.duckdb")
    with pytest.raises(ppdm_sql.Refused, match="symbolic link"):
        releases.publish("open.wards", to="link.duckdb")
    Path("study.duckdb.wal").write_bytes(b"")
    with pytest.raises(ppdm_sql.Refused, match="lies beside the target"):
        releases.publish("open.wards", to="study.duckdb")
    assert not [name for name in os.listdir() if name.startswith(WORKPLACE_PREFIX)]


def test_the_owners_own_database_is_not_a_place_to_publish_to(safe: Path) -> None:
    with ppdm_sql.connect(safe) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i; CREATE RELEASE r.t FROM t (i NEUTRAL)")
        owner.execute("CHECKPOINT")
        for target in (safe, safe.parent):
            with pytest.raises(ppdm_sql.PpdmError):
                owner.publish("r.t", to=target)
        assert owner.execute("FROM t").fetchall() == [(1,)]


def test_a_reader_of_the_old_file_keeps_it(releases: Owner) -> None:
    releases.publish("open.wards", to="study.duckdb")
    with duckdb.connect("study.duckdb", read_only=True) as client:
        releases.execute("DELETE FROM clinic.people")
        releases.publish("open.wards", to="study.duckdb")
        assert client.execute("SELECT count(*) FROM open.wards").fetchall() == [(6,)]
    assert ask("study.duckdb", "SELECT count(*) FROM open.wards") == [(0,)]


# When it fails


def test_a_publication_is_not_part_of_a_transaction(releases: Owner) -> None:
    releases.execute("BEGIN; DELETE FROM clinic.people")
    with pytest.raises(ppdm_sql.Refused, match="PUBLISH cannot run inside a transaction"):
        releases.execute("PUBLISH RELEASE open.wards TO 'study.duckdb'")
    releases.execute("ROLLBACK")
    assert os.listdir() == []
    assert releases.publications() == []


def test_a_full_disk_leaves_the_old_file_and_nothing_else(releases: Owner) -> None:
    import resource

    releases.publish("open.wards", to="study.duckdb")
    before = Path("study.duckdb").read_bytes()
    releases.execute(
        "INSERT INTO clinic.people SELECT range, '', 1, 1, 1, '', range // 2 FROM range(90000)"
    )
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most in (2**12, 2**14, 2**18, 2**18 + 2**15):
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
        try:
            with pytest.raises(ppdm_sql.StoreError, match="could not be written: the disk is full"):
                releases.publish("open.wards", to="study.duckdb")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert os.listdir() == ["study.duckdb"]
        attached = releases.connection.execute("FROM duckdb_databases()").fetchall()
        assert not [row for row in attached if row[0].startswith("ppdm_publish")]
    assert Path("study.duckdb").read_bytes() == before
    assert len(releases.publications()) == 1
    releases.publish("open.wards", to="study.duckdb")
    assert ask("study.duckdb", "SELECT rows FROM release_info") == [(90006,)]


def test_a_folder_that_may_not_be_written_is_told(
    releases: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", denied)
    with pytest.raises(ppdm_sql.StoreError, match=r"nothing can be written to .*: Permission"):
        releases.publish("open.wards", to="study.duckdb")


def test_an_error_in_one_release_publishes_none(releases: Owner) -> None:
    releases.execute("CREATE TABLE gone AS SELECT 1 AS i; CREATE RELEASE r.g FROM gone (i NEUTRAL)")
    releases.execute("DROP TABLE gone")
    with pytest.raises(ppdm_sql.BindError, match="no table or view") as caught:
        releases.execute("PUBLISH RELEASE open.wards, r.g TO 'study.duckdb'")
    assert caught.value.span is not None
    assert caught.value.span.source == "r.g"
    assert os.listdir() == []
    attached = releases.connection.execute(
        "SELECT database_name FROM duckdb_databases()"
    ).fetchall()
    assert not [name for (name,) in attached if name.startswith("ppdm_publish")]


def test_two_publications_at_once_do_not_clear_each_other_away(
    releases: Owner, tmp_path: Path
) -> None:
    from ppdm_sql.delivery.workplace import workplace

    dead = tmp_path / f"{WORKPLACE_PREFIX}deadones.ppdm-scratch"
    dead.mkdir()
    (dead / "half.duckdb").write_bytes(b"half")
    with workplace(tmp_path) as live:
        (live / "kept").write_text("kept")
        assert not dead.exists()
        releases.publish("open.wards", to="study.duckdb")
        assert (live / "kept").exists()
    assert os.listdir() == ["study.duckdb"]


def test_dropping_a_release_keeps_what_is_known_of_its_publications(releases: Owner) -> None:
    releases.publish("open.wards", to="study.duckdb")
    releases.execute("DROP RELEASE open.wards")
    assert [str(one.release) for one in releases.publications()] == ["open.wards"]


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE ppdm_owner.r1_v1_parameters",
        "DROP VIEW research.people; DROP TABLE ppdm_owner.r1_v1_t4_0_aliases",
        "UPDATE ppdm_owner.versions SET definition = 'SELECT 1'",
        "DELETE FROM ppdm_owner.versions",
        "DELETE FROM ppdm_owner.columns",
        "DELETE FROM ppdm_owner.r1_v1_parameters",
        "DROP TABLE ppdm_owner.releases",
        "DROP TABLE ppdm_owner.publications",
    ],
)
@pytest.mark.parametrize("unlinkable", [False, True])
def test_a_damaged_store_publishes_nothing(releases: Owner, damage: str, unlinkable: bool) -> None:
    releases.execute(damage)
    with pytest.raises((ppdm_sql.PpdmError, ppdm_sql.InternalError)):
        releases.publish("research.people", to="study.duckdb", unlinkable=unlinkable)
    assert os.listdir() == []


def test_a_name_that_is_no_file_name_is_said(releases: Owner) -> None:
    releases.execute(f"CREATE RELEASE research.{'a' * 300} FROM clinic.people (ward NEUTRAL)")
    with pytest.raises(ppdm_sql.Refused, match="too long for the name of a file"):
        releases.publish(f"research.{'a' * 300}", to="folder/")
    releases.publish(f"research.{'a' * 300}", to="file.duckdb")


def test_a_source_of_another_type_is_said_before_it_is_read(releases: Owner) -> None:
    releases.execute(
        "DROP VIEW research.people; ALTER TABLE clinic.people ALTER ward TYPE INTEGER USING 1"
    )
    with pytest.raises(ppdm_sql.BindError, match="the type of 'ward' was VARCHAR and is INTEGER"):
        releases.publish("research.people", to="file.duckdb")
