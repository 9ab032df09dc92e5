"""What is published is checked as it is: targets, IDENTIFIERs, and the file against the snapshot."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import duckdb
import pytest

from ppdm_sql.errors import PrivacyWarning, Refused
from ppdm_sql.publish import snapshot, write

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner


@pytest.fixture
def clinic(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE t AS SELECT range AS id, 'name ' || range AS name, (range // 10)::INTEGER AS age,"
        " range % 3 AS ill FROM range(60)"
    )
    return owner


def test_a_copy_of_an_identifier_does_not_leave(clinic: Owner, tmp_path: Path) -> None:
    """Sixty persons are too few to say that a column names them; the IDENTIFIER beside it does."""
    source = "(SELECT *, CASE WHEN id % 3 = 0 THEN 'x' ELSE name END AS note FROM t)"
    clinic.execute(f"CREATE RELEASE r.a FROM {source} (id KEY, name IDENTIFIER, note NEUTRAL)")
    with pytest.raises(Refused, match="'note' shows the IDENTIFIER 'name'") as caught:
        clinic.publish("r.a", to=tmp_path / "a.duckdb")
    assert caught.value.code == "shows_identifier"
    assert not (tmp_path / "a.duckdb").exists()
    source = "(SELECT *, CASE WHEN id % 3 > 0 THEN 'x' ELSE name END AS note FROM t)"
    clinic.execute(f"CREATE RELEASE r.b FROM {source} (id KEY, name IDENTIFIER, note NEUTRAL)")
    clinic.publish("r.b", to=tmp_path / "b.duckdb")


def test_targets_are_counted_on_the_snapshot(
    clinic: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Takes the check of the search away: the plain one alone stops what misses its targets."""
    clinic.execute(
        "CREATE RELEASE r.a FROM t (id KEY, age QUASI, ill SENSITIVE)"
        " GENERALIZE age UNTIL k = 5, l(ill) = 2"
    )
    monkeypatch.setattr(write, "verify_targets", lambda *_: ())
    clinic.publish("r.a", to=tmp_path / "a.duckdb")
    clinic.execute("DELETE FROM t WHERE age = 3 AND id % 10 > 2")
    with pytest.raises(Refused, match="does not reach its targets"):
        clinic.publish("r.a", to=tmp_path / "b.duckdb")
    clinic.execute("DELETE FROM t WHERE age = 3; UPDATE t SET ill = 1 WHERE age = 4")
    with pytest.raises(Refused, match="does not reach its targets"):
        clinic.publish("r.a", to=tmp_path / "c.duckdb")
    assert not (tmp_path / "b.duckdb").exists()


@pytest.mark.filterwarnings("ignore::ppdm_sql.PrivacyWarning")  # id is in the order of age
@pytest.mark.parametrize("key", ["id KEY", "id NEUTRAL", "twin KEY AS pseudonym()"])
@pytest.mark.parametrize(
    ("target", "broken"),
    [
        ("alpha(ill) <= 0.7", "UPDATE t SET ill = 1 WHERE age = 4"),
        ("entropy_l(ill) = 2.5", "UPDATE t SET ill = 1 WHERE age = 4 AND ill = 2"),
        ("recursive_l(ill, 1) = 2", "UPDATE t SET ill = 1 WHERE age = 4 AND ill > 0"),
        ("t(ill) <= 0.2", "UPDATE t SET ill = 2 WHERE age = 4"),
        ("t(word) <= 0.2", "UPDATE t SET word = 'a' WHERE age = 4"),
        ("t(word) <= 0.2", "UPDATE t SET word = NULL WHERE age = 4"),
    ],
)
def test_distributions_are_counted_on_the_snapshot(
    owner: Owner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    broken: str,
    key: str,
) -> None:
    """Each target is reached at first; a change of one class breaks it."""
    owner.execute(
        "CREATE TABLE t AS SELECT range AS id, range // 2 AS twin, (range // 12)::INTEGER AS age,"
        " range % 3 AS ill, ['a', 'b', 'c'][1 + range % 3] AS word FROM range(72);"
        f"CREATE RELEASE r.a FROM t ({key}, age QUASI, ill SENSITIVE, word SENSITIVE)"
        f" GENERALIZE age UNTIL k = 3, {target} WITH (accept = ['linked_rows'])"
    )
    monkeypatch.setattr(write, "verify_targets", lambda *_: ())
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    owner.execute(broken)
    with pytest.raises(Refused, match="does not reach its targets"):
        owner.publish("r.a", to=tmp_path / "b.duckdb")


def test_t_counts_persons_also_outside_when(owner: Owner, tmp_path: Path) -> None:
    """One person with forty rows outside the high class is one of the source's persons."""
    high = "SELECT i AS id, 'c' || i % 2 AS city, ['a', 'b'][1 + i // 2 % 2] AS ill, true AS hi"
    release = (
        "CREATE RELEASE r.a FROM t (id KEY, city QUASI, ill SENSITIVE)"
        " GENERALIZE city WHEN hi UNTIL k = 2, t(ill) <= 0.2"
    )
    others = "SELECT 100 + i, 'z', 'a', false FROM range(40) r (i)"
    person = "SELECT 999, 'z', '{}', false FROM range(40)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        owner.execute(
            f"CREATE TABLE t AS {high} FROM range(8) r (i) UNION ALL {person.format('a')}"
        )
        owner.execute(release)  # of nine persons, five have a
        owner.publish("r.a", to=tmp_path / "a.duckdb")
        owner.execute(
            f"DROP RELEASE r.a; INSERT INTO t {others}; INSERT INTO t {person.format('b')}"
        )
        with pytest.raises(Refused, match="no generalization reaches"):
            owner.execute(release)


def test_settings_of_the_owner_change_no_target(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner.execute(
        "SET integer_division = true; SET default_collation = 'NOCASE';"
        "CREATE TABLE t AS SELECT range AS id, ['x', 'X'][1 + range // 12] AS city, range % 3 AS ill"
        " FROM range(24);"
        "CREATE RELEASE r.a FROM t (id KEY, city QUASI, ill SENSITIVE)"
        " GENERALIZE city UNTIL k = 3, t(ill) <= 0.2, entropy_l(ill) = 2.5"
    )
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    monkeypatch.setattr(write, "verify_targets", lambda *_: ())
    owner.execute("UPDATE t SET ill = 2 WHERE city COLLATE C = 'X'")
    with pytest.raises(Refused, match="does not reach its targets"):
        owner.publish("r.a", to=tmp_path / "b.duckdb")
    owner.execute("UPDATE t SET ill = id % 3; DELETE FROM t WHERE id > 12")
    with pytest.raises(Refused, match="does not reach its targets"):
        owner.publish("r.a", to=tmp_path / "c.duckdb")


@pytest.mark.parametrize("form", ["duckdb", "parquet"])
@pytest.mark.parametrize(
    "damage", ["a row is lost", "a row comes twice", "a value is another", "two values swap"]
)
def test_a_file_that_is_not_the_snapshot_is_not_published(
    clinic: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str, damage: str
) -> None:
    shuffled = snapshot.shuffled

    def damaged(taken: snapshot.Snapshot, shown: list[object]) -> object:
        from sqlglot import parse_one

        text = shuffled(taken, shown).sql("duckdb")  # type: ignore[arg-type]
        changed = {
            "a row is lost": f"SELECT * FROM ({text}) LIMIT 59",
            "a row comes twice": f"SELECT * FROM ({text}) UNION ALL (SELECT * FROM ({text}) LIMIT 1)",
            "a value is another": f"SELECT age + (age = 3)::INTEGER AS age, ill FROM ({text})",
            "two values swap": f"SELECT CASE age WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE age END AS age, ill FROM ({text})",
        }
        return parse_one(changed[damage], dialect="duckdb")

    clinic.execute("UPDATE t SET ill = age")
    clinic.execute("CREATE RELEASE r.a FROM t (id KEY, age QUASI, ill NEUTRAL)")
    monkeypatch.setattr(write, "shuffled", damaged)
    with pytest.raises(Refused, match="could not be written unchanged"):
        clinic.publish("r.a", to=tmp_path / "study", format=form)
    assert list(tmp_path.iterdir()) == []


def test_large_whole_numbers_are_themselves_in_parquet(owner: Owner, tmp_path: Path) -> None:
    """DuckDB writes a HUGEINT to Parquet as a DOUBLE: 12345678901234567890 was …936."""
    owner.execute("CREATE TABLE t AS SELECT 12345678901234567890::HUGEINT AS n")
    owner.execute("CREATE RELEASE r.t FROM t (n NEUTRAL)")
    owner.publish("r.t", to=tmp_path / "study", format="parquet")
    with duckdb.connect() as client:
        (value,) = client.execute(f"FROM '{tmp_path}/study/r.t.parquet'").fetchall()[0]
    assert int(value) == 12345678901234567890


def test_nothing_of_the_snapshot_stays(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute("CREATE RELEASE r.a FROM t (id KEY AS pseudonym(), age QUASI, name IDENTIFIER)")
    clinic.publish("r.a", to=tmp_path / "a.duckdb")
    assert clinic.execute("SELECT table_name FROM duckdb_tables() WHERE temporary").fetchall() == []
    with duckdb.connect(tmp_path / "a.duckdb", read_only=True) as file:
        names = [row[0] for row in file.execute("DESCRIBE r.a").fetchall()]
    assert names == ["id", "age"]
