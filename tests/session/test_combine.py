"""Combining what sites published: what belongs together, what is refused, how gaps are filled."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import ppdm_sql
from ppdm_sql.cli import main
from ppdm_sql.delivery.signature import sign
from ppdm_sql.errors import BindError, PpdmError, PrivacyWarning, Refused, StoreError
from ppdm_sql.names import Name
from ppdm_sql.store.agreements import find_agreement

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner
    from ppdm_sql.sites.combine import Combined

PASSPHRASE = "correct horse battery staple"
AGREED = """
    id KEY AS pseudonym(), age QUASI AS graded_grouping(bands => [0, 50, 100]),
    weight SENSITIVE AS scaling(), illness SENSITIVE AS mapping(), ward NEUTRAL, whole NEUTRAL
"""
ALL = "SELECT i AS id, i * 9 AS age, 50.5::DOUBLE + i AS weight, ['Flu', 'HIV', 'Flu'][1 + i % 3] AS illness"
FROM = "(SELECT *, 'w' || i % 2 AS ward, i AS whole FROM ({all}) AS a JOIN range(9) AS r (i) ON i = id)"


class Site:
    """An owner in memory that publishes under the agreement of the first site."""

    def __init__(self, folder: Path, name: str, agreement: Path) -> None:
        self.owner: Owner = ppdm_sql.connect(":memory:")
        self.owner.on_passphrase(lambda _: PASSPHRASE)
        self.folder = folder
        self.name = name
        if agreement.exists():
            self.owner.execute(f"IMPORT AGREEMENT FROM '{agreement}'")
        else:
            self.owner.execute(f"CREATE AGREEMENT north ({AGREED})")
            self.owner.execute(f"EXPORT AGREEMENT north TO '{agreement}'")

    def publish(
        self,
        columns: str,
        rows: str = "true",
        name: str = "s.r",
        agreed: bool = True,
        file: str = "",
    ) -> Path:
        source = f"SELECT * FROM {FROM.format(all=f'{ALL} FROM range(9) AS r (i)')} WHERE {rows}"
        self.owner.execute(f"CREATE OR REPLACE TABLE t AS {source}")
        option = "WITH (agreement = 'north')" if agreed else ""
        self.owner.execute(f"CREATE OR REPLACE RELEASE {name} FROM t ({columns}) {option}")
        path = self.folder / (file or f"{self.name}.duckdb")
        with warnings.catch_warnings():
            # One table, published in several ways: as no site would.
            warnings.filterwarnings(
                "ignore", "s.r: .* show one column by two rules", PrivacyWarning
            )
            self.owner.publish(name, to=path)
        return path


HOSPITAL = "id KEY AS pseudonym(), age QUASI AS graded_grouping(bands => [0, 50, 100])"
PHARMACY = "id KEY AS pseudonym(), weight SENSITIVE AS scaling(), illness SENSITIVE AS mapping()"
INSURER = "id KEY AS pseudonym(), ward NEUTRAL, whole NEUTRAL"


def signer_of(owner: Owner) -> Ed25519PrivateKey:
    """Return what signs the publications of a site under its agreement."""
    found = find_agreement(owner._engine, Name("north"))
    assert found is not None
    return found.signing_key


def fingerprint_of(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


KEYS: list[Ed25519PrivateKey] = []
"""The key of the agreement of all files but the stranger's, once they are made."""


def combine(*files: Path, to: Path, **options: Any) -> Combined:
    return ppdm_sql.combine(*files, to=to, agreement=fingerprint_of(KEYS[-1]), **options)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of sites with the same columns, of sites with others, and of strangers."""
    folder = tmp_path_factory.mktemp("sites")
    agreement = folder / "north.agreement"
    one, two = Site(folder, "one", agreement), Site(folder, "two", agreement)
    stranger = Site(folder, "stranger", folder / "other.agreement")
    found = {
        "whole": one.publish(AGREED, file="whole.duckdb"),
        "low": one.publish(AGREED, "id < 4", file="low.duckdb"),
        "high": two.publish(AGREED, "id >= 4", name="u.people", file="high.duckdb"),
        "hospital": one.publish(HOSPITAL, file="hospital.duckdb"),
        "ambulance": one.publish(HOSPITAL, "id <> 5", file="ambulance.duckdb"),
        "pharmacy": two.publish(PHARMACY, "id <> 2", file="pharmacy.duckdb"),
        "insurer": two.publish(INSURER, "id < 8", file="insurer.duckdb"),
        "stranger": stranger.publish(AGREED, "id < 4"),
        "alone": one.publish(AGREED, agreed=False, file="alone.duckdb"),
        "keyless": one.publish("ward NEUTRAL", file="keyless.duckdb"),
    }
    one.publish("ward NEUTRAL", name="s.second", file="second.duckdb")
    one.owner.publish("s.r", "s.second", to=folder / "two.duckdb")
    found["two"] = folder / "two.duckdb"
    KEYS.append(signer_of(one.owner))
    for site in (one, two, stranger):
        site.owner.close()
    return found


def read(path: Path, query: str = "FROM s.r ORDER BY id") -> list[tuple[Any, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(query).fetchall()


def test_stacked_files_are_the_whole(files: dict[str, Path], tmp_path: Path) -> None:
    done = combine(files["low"], files["high"], to=tmp_path / "study.duckdb")
    assert (done.release, done.rows, done.notes) == ("s.r", 9, ())
    assert read(tmp_path / "study.duckdb") == read(files["whole"])
    info = "SELECT release, version, rows, treatments, agreement FROM release_info"
    (mine,), (whole,) = read(tmp_path / "study.duckdb", info), read(files["whole"], info)
    assert mine == (whole[0], None, *whole[2:])
    comments = (
        "SELECT column_name, comment FROM duckdb_columns() WHERE schema_name = 's' ORDER BY 1"
    )
    assert read(tmp_path / "study.duckdb", comments) == read(files["whole"], comments)


def test_a_part_is_not_replaced_by_the_study(files: dict[str, Path]) -> None:
    before = files["low"].read_bytes()
    with pytest.raises(BindError, match="is one of the files to combine"):
        combine(files["low"], files["high"], to=files["low"])
    assert files["low"].read_bytes() == before


def test_plain_sql_stacks_as_well(files: dict[str, Path]) -> None:
    with duckdb.connect() as connection:
        for name in ("low", "high"):
            connection.execute(f"ATTACH '{files[name]}' AS {name} (READ_ONLY)")
        rows = connection.execute("FROM low.s.r UNION ALL BY NAME FROM high.u.people ORDER BY id")
        assert rows.fetchall() == read(files["whole"])


def test_joined_files_are_the_whole_where_nobody_is_missing(
    files: dict[str, Path], tmp_path: Path
) -> None:
    parts = [files[name] for name in ("hospital", "pharmacy", "insurer")]
    done = combine(*parts, to=tmp_path / "study.duckdb", how="join", missing="drop")
    assert done.rows == 7
    everybody = {row[0]: row for row in read(files["whole"])}
    for row in read(tmp_path / "study.duckdb"):
        assert row == everybody[row[0]]


def test_people_missing_at_a_site_are_null_mean_or_mode(
    files: dict[str, Path], tmp_path: Path
) -> None:
    parts = [files[name] for name in ("hospital", "pharmacy", "insurer")]
    whole = {row[5]: row for row in read(files["whole"])}  # by the column that leaves as it is
    pharmacy = read(files["pharmacy"])
    mean = sum(row[1] for row in pharmacy) / len(pharmacy)
    flu = whole[0][3]
    for missing, weight, illness in (
        ("null", None, None),
        ("mean", pytest.approx(mean), flu),
        ("mode", min(row[1] for row in pharmacy), flu),
    ):
        path = tmp_path / f"{missing}.duckdb"
        done = combine(*parts, to=path, how="join", missing=missing)
        assert done.rows == 9
        rows = {row[0]: row for row in read(path)}
        assert rows[whole[2][0]][:4] == (*whole[2][:2], weight, illness)
        assert rows[whole[3][0]] == whole[3]
        absent = rows[whole[8][0]]
        filled = {"null": (None, None), "mean": ("w0", 3.5), "mode": ("w0", 0)}[missing]
        assert absent[4:] == filled
        assert done.notes == ()


def test_a_mean_that_does_not_commute_is_said(files: dict[str, Path], tmp_path: Path) -> None:
    parts = [files["pharmacy"], files["ambulance"]]
    done = combine(*parts, to=tmp_path / "study.duckdb", how="join", missing="mean")
    assert done.notes == (
        "age: the mean that was filled in is only approximate after graded_grouping",
    )


def test_rows_of_one_person_at_one_site_are_kept(files: dict[str, Path], tmp_path: Path) -> None:
    double = tmp_path / "double.duckdb"
    repeat(files["hospital"], double)
    done = combine(double, files["insurer"], to=tmp_path / "a.duckdb", how="join")
    assert done.rows == 18
    other = tmp_path / "other.duckdb"
    repeat(files["insurer"], other)
    with pytest.raises(BindError, match="have persons with several rows"):
        combine(double, other, to=tmp_path / "b.duckdb", how="join")


def test_rows_without_a_key_are_not_joined(files: dict[str, Path], tmp_path: Path) -> None:
    """Before: they were lost, and a person that nobody has was made of them."""
    some = tmp_path / "some.duckdb"
    some.write_bytes(files["hospital"].read_bytes())
    with duckdb.connect(some) as connection:
        (key,) = [name for name, *_ in connection.execute("DESCRIBE s.r").fetchall()][:1]
        connection.execute(f'INSERT INTO s.r SELECT * REPLACE (NULL AS "{key}") FROM s.r LIMIT 2')
    sign(some, [KEYS[-1]])
    with pytest.raises(BindError, match="has 2 rows without a KEY") as caught:
        combine(some, files["insurer"], to=tmp_path / "a.duckdb", how="join")
    assert caught.value.code == "key"


def test_one_publication_is_taken_once(files: dict[str, Path], tmp_path: Path) -> None:
    copy = tmp_path / "copy.duckdb"
    copy.write_bytes(files["hospital"].read_bytes())
    for other in (files["hospital"], copy):
        with pytest.raises(BindError, match="are one publication"):
            combine(files["hospital"], other, to=tmp_path / "a.duckdb")


def repeat(source: Path, target: Path) -> None:
    """Write a file with every row twice."""
    target.write_bytes(source.read_bytes())
    with duckdb.connect(target) as connection:
        connection.execute("INSERT INTO s.r FROM s.r")
    sign(target, [KEYS[-1]])


@pytest.mark.parametrize(
    ("names", "how", "error", "what"),
    [
        (("low",), "stack", BindError, "two or more sites"),
        (("low", "high"), "pile", BindError, "how is one of stack, join"),
        (("low", "stranger"), "stack", Refused, "is not signed under this agreement"),
        (("low", "alone"), "stack", Refused, "is not signed under this agreement"),
        (("low", "hospital"), "stack", BindError, "has no column 'weight'"),
        (("hospital", "low"), "stack", BindError, "has no column 'weight'"),
        (("low", "high"), "join", BindError, "'age' is in"),
        (("hospital", "keyless"), "join", BindError, "has no KEY to join on"),
        (("low", "two"), "stack", BindError, "holds 2 releases"),
        (("low", "nothing"), "stack", StoreError, "there is no file"),
        (("low", "text"), "stack", StoreError, "cannot be opened as a DuckDB database"),
        (("low", "empty"), "stack", StoreError, "is not a publication"),
        (("low", "hollow"), "stack", StoreError, "does not hold the release"),
        (("hospital", "unknown"), "join", BindError, "has no KEY to join on"),
        (("low", "typed"), "stack", BindError, "'ward' is VARCHAR in"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    files: dict[str, Path],
    tmp_path: Path,
    names: tuple[str, ...],
    how: str,
    error: type[PpdmError],
    what: str,
) -> None:
    odd = {name: tmp_path / f"{name}.duckdb" for name in ("nothing", "text", "empty")}
    odd["text"].write_text("not a database")
    duckdb.connect(odd["empty"]).close()
    for name, change in (
        ("hollow", "DROP TABLE s.r; CREATE TABLE s.other AS SELECT 1 AS id"),
        ("typed", "ALTER TABLE s.r ALTER ward TYPE BLOB USING encode(ward)"),
        ("unknown", "COMMENT ON COLUMN s.r.id IS 'KEY, shuffle_ids'"),
    ):
        odd[name] = tmp_path / f"{name}.duckdb"
        odd[name].write_bytes(files["low"].read_bytes())
        with duckdb.connect(odd[name]) as connection:
            connection.execute(change)
    for name in ("text", "empty", "hollow", "typed", "unknown"):
        sign(odd[name], [KEYS[-1]])  # as a site could
    paths = [odd.get(name) or files[name] for name in names]
    with pytest.raises(error, match=what):
        combine(*paths, to=tmp_path / "study.duckdb", how=how)
    assert not (tmp_path / "study.duckdb").exists()


def test_one_of_several_releases_is_chosen(files: dict[str, Path], tmp_path: Path) -> None:
    both = (files["two"], files["keyless"])
    with pytest.raises(BindError, match=r"there is no release 's\.third'"):
        combine(*both, to=tmp_path / "study.duckdb", release="s.third")
    done = combine(*both, to=tmp_path / "study.duckdb", release="S.R")
    assert done.rows == 18


def test_an_agreed_release_is_not_published_unlinkable(tmp_path: Path) -> None:
    site = Site(tmp_path, "site", tmp_path / "a.agreement")
    site.publish(HOSPITAL)
    with pytest.raises(Refused, match="made under an agreement"):
        site.owner.publish("s.r", to=tmp_path / "u.duckdb", unlinkable=True)
    site.owner.close()


def test_the_command_line(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    study = tmp_path / "study.duckdb"
    told = ("--agreement", fingerprint_of(KEYS[-1]))
    code, out, _ = run("combine", "--stack", files["low"], files["high"], "--to", study, *told)
    assert (code, out) == (0, f"combined 2 files: s.r, 9 rows, in '{study}'\n")
    code, _, err = run(
        "combine",
        "--join",
        files["pharmacy"],
        files["ambulance"],
        "--to",
        study,
        "--missing",
        "mean",
        *told,
    )
    assert code == 0
    assert err.startswith("note: age: the mean that was filled in is only approximate")
    assert run("combine", files["low"], files["high"], "--to", study, *told)[0] == 2
    assert run("combine", "--stack", files["low"], files["high"], "--to", study)[0] == 2
    code, _, err = run("combine", "--stack", files["low"], files["stranger"], "--to", study, *told)
    assert (code, "is not signed under this agreement" in err) == (2, True)


# Signatures


@pytest.mark.parametrize("how", ["a copied fingerprint", "a changed byte", "another key"])
def test_a_forged_part_is_refused(files: dict[str, Path], tmp_path: Path, how: str) -> None:
    """Whoever has a site's publication, and the fingerprint in it, cannot make another one."""
    part = tmp_path / "part.duckdb"
    part.write_bytes(files["low"].read_bytes())
    if how == "a changed byte":
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
    else:
        with duckdb.connect(part) as file:
            file.execute("UPDATE s.r SET ward = 'forged'")
        if how == "another key":
            sign(part, [Ed25519PrivateKey.generate()])
    with pytest.raises(Refused) as caught:
        combine(part, files["high"], to=tmp_path / "study.duckdb")
    assert caught.value.code == "not_signed"
    assert not (tmp_path / "study.duckdb").exists()


def test_a_part_is_verified_before_it_is_opened(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("it was opened")

    monkeypatch.setattr("ppdm_sql.sites.site_files.ForeignFile", opened)
    part = tmp_path / "part.duckdb"
    part.write_bytes(files["low"].read_bytes()[:-1])
    with pytest.raises(Refused, match="is not signed"):
        combine(part, part, to=tmp_path / "study.duckdb")


def test_a_log_beside_a_part_is_not_applied(files: dict[str, Path], tmp_path: Path) -> None:
    """DuckDB reads a database together with its write-ahead log, which nobody signed."""
    part = tmp_path / "part.duckdb"
    part.write_bytes(files["low"].read_bytes())
    connection = duckdb.connect(part)
    connection.execute("SET checkpoint_threshold = '1TB'")
    connection.execute("UPDATE s.r SET ward = 'forged'")
    log = part.with_name("part.duckdb.wal").read_bytes()
    connection.close()
    part.write_bytes(files["low"].read_bytes())
    part.with_name("part.duckdb.wal").write_bytes(log)
    combine(part, files["high"], to=tmp_path / "study.duckdb")
    assert read(tmp_path / "study.duckdb", "SELECT count(*) FROM s.r WHERE ward = 'forged'") == [
        (0,)
    ]


def test_a_fingerprint_is_a_public_key(files: dict[str, Path], tmp_path: Path) -> None:
    for said in ("", "north", "ab" * 31, fingerprint_of(KEYS[-1])[:16]):
        with pytest.raises(BindError, match="not the fingerprint of an agreement"):
            ppdm_sql.combine(
                files["low"], files["high"], to=tmp_path / "study.duckdb", agreement=said
            )
    spaced = f" {fingerprint_of(KEYS[-1]).upper()} "
    ppdm_sql.combine(files["low"], files["high"], to=tmp_path / "study.duckdb", agreement=spaced)


def test_a_file_of_two_agreements_is_signed_under_both(tmp_path: Path) -> None:
    with ppdm_sql.connect(":memory:") as owner:
        owner.on_passphrase(lambda _: PASSPHRASE)
        owner.execute("CREATE TABLE t AS SELECT 1 AS id, 'w' AS ward")
        for name in ("a", "b"):
            owner.execute(f"CREATE AGREEMENT {name} (ward NEUTRAL)")
            owner.execute(
                f"CREATE RELEASE s.{name} FROM t (ward NEUTRAL) WITH (agreement = '{name}')"
            )
        for name in ("both", "again"):
            owner.publish("s.a", "s.b", to=tmp_path / f"{name}.duckdb")
        rows = owner.execute("SHOW AGREEMENTS").fetchall()
    both, again = tmp_path / "both.duckdb", tmp_path / "again.duckdb"
    for name, fingerprint, _ in rows:
        done = ppdm_sql.combine(
            both,
            again,
            to=tmp_path / "study.duckdb",
            agreement=fingerprint,
            release=f"s.{name}",
        )
        assert done.rows == 2
    with pytest.raises(Refused, match="was not released under this agreement"):
        ppdm_sql.combine(
            both, again, to=tmp_path / "study.duckdb", agreement=rows[0][1], release="s.b"
        )


def test_values_of_every_type_arrive_as_they_were_published(tmp_path: Path) -> None:
    names = [
        "bool", "tinyint", "bigint", "hugeint", "uhugeint", "ubigint", "date", "time", "timestamp",
        "timestamp_s", "timestamp_ms", "timestamp_ns", "time_tz", "timestamp_tz", "float", "double",
        "dec_4_1", "dec_18_6", "dec38_10", "uuid", "interval", "varchar", "blob", "bit",
        "int_array", "struct", "map", "fixed_int_array", "union",
    ]  # fmt: skip
    listed = ", ".join(f'"{name}" NEUTRAL' for name in names)
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute("CREATE TABLE t AS SELECT * EXCLUDE (geometry) FROM test_all_types()")
        owner.execute(f"CREATE AGREEMENT north ({listed})")
        owner.execute(f"CREATE RELEASE s.r FROM t ({listed}) WITH (agreement = 'north')")
        for name in ("part", "again"):
            owner.publish("s.r", to=tmp_path / f"{name}.duckdb")
        key = signer_of(owner)
    part, study = tmp_path / "part.duckdb", tmp_path / "study.duckdb"
    ppdm_sql.combine(part, tmp_path / "again.duckdb", to=study, agreement=fingerprint_of(key))
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{part}' AS a (READ_ONLY); ATTACH '{study}' AS b (READ_ONLY)")
        types = [connection.execute(f"DESCRIBE {name}.s.r").fetchall() for name in ("a", "b")]
        assert [row[:2] for row in types[0]] == [row[:2] for row in types[1]]
        twice = "FROM a.s.r UNION ALL FROM a.s.r"
        for query in (f"({twice}) EXCEPT ALL FROM b.s.r", f"FROM b.s.r EXCEPT ALL ({twice})"):
            assert connection.execute(query).fetchall() == []
