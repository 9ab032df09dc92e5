"""The ledger: what went out, and what a publication gives away together with earlier ones."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import PrivacyWarning, Refused

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

TABLE = """
CREATE TABLE people AS SELECT
    range AS id, (20 + range * 7 % 40)::INTEGER AS age, (range // 30)::INTEGER AS zip,
    (range * 31 % 97)::DOUBLE AS weight, (range * 17 % 1000)::DOUBLE AS income
FROM range(300);
CREATE HIERARCHY ages AS RANGES (10, 20);
CREATE HIERARCHY zips AS RANGES (5, 10);
"""


@pytest.fixture
def clinic(owner: Owner) -> Owner:
    owner.execute(TABLE)
    return owner


def warned(owner: Owner, release: str, path: Path, **options: object) -> list[str]:
    """Publish; return what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        owner.publish(release, to=path, **options)  # type: ignore[arg-type]  # of publish
    return [str(one.message) for one in caught]


def test_the_ledger_says_what_went_out_to_whom(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute(
        "CREATE RELEASE r.a FROM (SELECT id, age + 1 AS older, weight FROM people)"
        " (id KEY, older QUASI, weight SENSITIVE AS noise(normal(0, 9)))"
    )
    clinic.execute(
        f"PUBLISH RELEASE r.a TO '{tmp_path / 'study.duckdb'}' WITH (recipient = 'uni-north')"
    )
    ((_, _, release, version, rows, persons, recipient, path, state),) = clinic.execute(
        "SHOW PUBLICATIONS"
    ).fetchall()
    assert (release, version, rows, persons) == ("r.a", 1, 300, 300)
    assert (recipient, path, state) == ("uni-north", str(tmp_path / "study.duckdb"), "done")
    (published,) = clinic.publications()
    older, weight = published.columns
    assert (older.name, older.treatments) == ("older", ("keep",))
    assert older.origins == {'table:"ppdm_store"."main"."people"."age"'}
    assert (weight.role, weight.treatments) == ("SENSITIVE", ("noise",))


def test_drafts_are_nobodys(clinic: Owner) -> None:
    clinic.execute("CREATE RELEASE r.a FROM people (id KEY, age QUASI)")
    clinic.execute("REFRESH RELEASE r.a")
    assert clinic.execute("SHOW PUBLICATIONS").fetchall() == []


def test_what_was_published_stays_readable_after_drop(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute("CREATE RELEASE r.a FROM people (id KEY AS pseudonym(), age QUASI)")
    warned(clinic, "r.a", tmp_path / "a.duckdb")
    clinic.execute("CREATE OR REPLACE RELEASE r.a FROM people (id KEY, zip QUASI AS mapping())")
    clinic.execute("DROP RELEASE r.a")
    assert clinic.releases() == []
    left = clinic.execute(
        "SELECT release_id, version FROM ppdm_owner.versions ORDER BY ALL"
    ).fetchall()
    assert left == [(1, 1)]  # the draft is gone with its tables
    tables = clinic.execute(
        "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'r1_v%' ORDER BY ALL"
    ).fetchall()
    assert tables == [("r1_v1_parameters",)]
    clinic.execute("CREATE RELEASE r.b FROM people (id KEY AS pseudonym(), zip QUASI)")
    (warning,) = warned(clinic, "r.b", tmp_path / "b.duckdb")
    assert "r.b shares pseudonyms with r.a, which was published before" in warning


# Draws that average


def test_noises_that_were_drawn_apart_are_counted(clinic: Owner, tmp_path: Path) -> None:
    """Before: 20 releases took a deviation of 10 to 2.2, and nothing said so."""
    sizes = (20, 20.01, 20.02)
    for number, size in enumerate(sizes):
        clinic.execute(
            f"CREATE RELEASE r.n{number} FROM (SELECT id, weight AS w{number} FROM people)"
            f" (id KEY, w{number} SENSITIVE AS noise(normal(0, {size})))"
        )
        found = warned(clinic, f"r.n{number}", tmp_path / f"{number}.duckdb")
        if number == 0:
            assert found == []
        else:
            (warning,) = found
            assert f"{number + 1} independent noises of 'w{number}' are published" in warning
            assert {1: "71%", 2: "58%"}[number] in warning


def test_the_same_noise_again_is_no_other_draw(clinic: Owner, tmp_path: Path) -> None:
    for name in ("r.a", "r.b"):
        clinic.execute(
            f"CREATE RELEASE {name} FROM people (id KEY, weight SENSITIVE AS noise(normal(0, 20)))"
        )
        assert warned(clinic, name, tmp_path / f"of_{name}.duckdb") == []
    clinic.execute("REFRESH RELEASE r.a")
    assert warned(clinic, "r.a", tmp_path / "again.duckdb") == []


# Classes


def test_two_releases_that_cut_classes_smaller_are_told(clinic: Owner, tmp_path: Path) -> None:
    """Before: two releases of one table left 61 of 300 people below the target, without a word."""
    clinic.execute(
        "CREATE RELEASE r.a FROM people (id KEY AS keep(), age QUASI)"
        " GENERALIZE age USING ages UNTIL k = 5;"
        "CREATE RELEASE r.b FROM people (id KEY AS keep(), zip QUASI)"
        " GENERALIZE zip USING zips UNTIL k = 5"
    )
    assert warned(clinic, "r.a", tmp_path / "a.duckdb") == []
    found = warned(clinic, "r.b", tmp_path / "b.duckdb")
    small = brute_small_classes(clinic, 5)
    assert small
    (warning,) = found
    assert f"{len(small)} persons of today's rows into classes smaller than k = 5" in warning


def test_releases_of_one_publication_are_judged_together(clinic: Owner, tmp_path: Path) -> None:
    clinic.execute(
        "CREATE RELEASE r.a FROM people (id KEY, age QUASI) GENERALIZE age USING ages UNTIL k = 5;"
        "CREATE RELEASE r.b FROM people (id KEY, zip QUASI) GENERALIZE zip USING zips UNTIL k = 5"
    )
    with pytest.warns(PrivacyWarning, match="r.b: combined with r.a"):
        clinic.publish("r.a", "r.b", to=tmp_path / "both.duckdb")


@pytest.mark.parametrize("first", ["r.raw", "r.a"])
def test_the_order_of_two_publications_does_not_matter(
    clinic: Owner, tmp_path: Path, first: str
) -> None:
    clinic.execute(
        "CREATE RELEASE r.a FROM people (id KEY, age QUASI) GENERALIZE age USING ages UNTIL k = 5;"
        "CREATE RELEASE r.raw FROM people (id KEY, age QUASI, zip QUASI)"
    )
    second = "r.a" if first == "r.raw" else "r.raw"
    warned(clinic, first, tmp_path / "one.duckdb")
    (warning,) = warned(clinic, second, tmp_path / "two.duckdb")
    assert f"{second}: combined with {first}" in warning


def test_rows_outside_the_high_class_and_stars_are_not_counted(
    clinic: Owner, tmp_path: Path
) -> None:
    clinic.execute(
        "CREATE RELEASE r.none FROM people (id KEY, weight SENSITIVE AS scaling());"
        "INSERT INTO people VALUES (900, 99, 99, 1, 1);"
        "CREATE RELEASE r.star FROM people (id KEY, age QUASI) GENERALIZE age"
        " UNTIL k = 5 SUPPRESS AT MOST 5 PERCENT WITH (suppressed = 'star');"
        "CREATE RELEASE r.again FROM people (id KEY, age QUASI) GENERALIZE age"
        " UNTIL k = 5 SUPPRESS AT MOST 5 PERCENT WITH (suppressed = 'star')"
    )
    for name in ("r.none", "r.star", "r.again"):
        assert warned(clinic, name, tmp_path / f"of_{name}.duckdb") == []


def test_noises_of_one_release_are_counted(clinic: Owner, tmp_path: Path) -> None:
    columns = ", ".join(f"weight + 0 * income * {n} AS w{n}" for n in range(3))
    noised = ", ".join(f"w{n} SENSITIVE AS noise(normal(0, 20))" for n in range(3))
    clinic.execute(f"CREATE RELEASE r.a FROM (SELECT id, {columns} FROM people) (id KEY, {noised})")
    found = warned(clinic, "r.a", tmp_path / "a.duckdb")
    assert any("3 independent noises of" in text for text in found)


def brute_small_classes(owner: Owner, k: int) -> list[int]:
    """Return the persons in classes smaller than k of what both releases show, counted in Python."""
    first, second = (dict(owner.sql(f"FROM {name}").fetchall()) for name in ("r.a", "r.b"))
    together = {person: (first[person], second[person]) for person in first}
    return [one for one in first if list(together.values()).count(together[one]) < k]


def test_without_a_key_the_warning_is_of_the_tables(clinic: Owner, tmp_path: Path) -> None:
    for name in ("r.a", "r.b"):
        clinic.execute(
            f"CREATE RELEASE {name} FROM people (age QUASI, zip QUASI)"
            " GENERALIZE age USING ages, zip USING zips UNTIL k = 5"
        )
    assert warned(clinic, "r.a", tmp_path / "a.duckdb") == []
    (warning,) = warned(clinic, "r.b", tmp_path / "b.duckdb")
    assert "without a KEY that both list" in warning


# Sums


@pytest.mark.parametrize("treatment", ["microaggregation(size => 5)", "mean_noise()"])
def test_sums_that_differ_by_a_newcomer_are_told(
    clinic: Owner, tmp_path: Path, treatment: str
) -> None:
    """Before: one INSERT between two publications gave the newcomer's income."""
    clinic.execute(f"CREATE RELEASE r.a FROM people (id KEY, income SENSITIVE AS {treatment})")
    assert warned(clinic, "r.a", tmp_path / "a.duckdb") == []
    clinic.execute("INSERT INTO people VALUES (300, 30, 1, 50, 77777)")
    clinic.execute("CREATE OR REPLACE RELEASE r.a FROM people"
                   f" (id KEY, income SENSITIVE AS {treatment})")  # fmt: skip
    (warning, *more) = warned(clinic, "r.a", tmp_path / "b.duckdb")
    assert "the two differ by 1 row" in warning
    assert ["in other groups" in one for one in more] == [True] * ("size" in treatment)
    clinic.execute("INSERT INTO people SELECT 301 + range, 30, 1, 50, range FROM range(50)")
    clinic.execute("REFRESH RELEASE r.a")
    assert warned(clinic, "r.a", tmp_path / "c.duckdb") == more


# Strict


@pytest.mark.parametrize(
    "first",
    [
        "GENERALIZE age WHEN dx = 'HIV' UNTIL k = 5",
        "GENERALIZE age UNTIL k = 5 SUPPRESS AT MOST 10% WITH (suppressed = 'star')",
    ],
)
def test_who_is_a_star_or_outside_when_is_counted_where_another_release_promises_k(
    owner: Owner, tmp_path: Path, first: str
) -> None:
    """Before: whoever one of the two promises nothing was left out of the count."""
    age = "20 + i" if "WHEN" in first else "CASE WHEN i = 0 THEN 99 ELSE 30 END"
    owner.execute(
        f"CREATE TABLE p AS SELECT i AS id, {age} AS age, i % 2 AS sex,"
        " CASE WHEN i % 3 = 0 THEN 'HIV' ELSE 'Flu' END AS dx FROM range(60) t(i);"
    )
    warned_of = warned_in(
        owner, f"CREATE RELEASE r.a FROM p (id KEY, age QUASI, dx SENSITIVE) {first}"
    )
    assert all("high class" in one for one in warned_of)
    owner.execute(
        "CREATE RELEASE r.b FROM p (id KEY, sex QUASI, dx SENSITIVE) GENERALIZE sex UNTIL k = 5"
    )
    assert warned(owner, "r.a", tmp_path / "a.duckdb") == []
    (warning,) = warned(owner, "r.b", tmp_path / "b.duckdb")
    assert f"it puts {40 if 'WHEN' in first else 1} person" in warning


def warned_in(owner: Owner, statement: str) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        owner.execute(statement)
    return [str(one.message) for one in caught]


def test_strict_publishes_nothing_that_is_warned_of(clinic: Owner, tmp_path: Path) -> None:
    for number, size in enumerate((20, 30)):
        clinic.execute(
            f"CREATE RELEASE r.n{number} FROM people"
            f" (id KEY, weight SENSITIVE AS noise(normal(0, {size})))"
        )
    clinic.publish("r.n0", to=tmp_path / "a.duckdb", strict=True)
    with pytest.raises(Refused, match="2 independent noises of 'weight' are published") as caught:
        clinic.publish("r.n1", to=tmp_path / "b.duckdb", strict=True)
    assert caught.value.code == "strict"
    assert not (tmp_path / "b.duckdb").exists()
    assert len(clinic.publications()) == 1


@pytest.mark.parametrize(
    "option", ["recipient = ''", "recipient = 5", "strict = 'yes'", "unlinkable = 1", "to = 'a'"]
)
def test_options_are_checked(clinic: Owner, tmp_path: Path, option: str) -> None:
    clinic.execute("CREATE RELEASE r.a FROM people (id KEY, age QUASI)")
    with pytest.raises(ppdm_sql.BindError):
        clinic.execute(f"PUBLISH RELEASE r.a TO '{tmp_path / 'a.duckdb'}' WITH ({option})")


def test_the_ledger_is_read_from_the_command_line(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from ppdm_sql.cli import cli

    database = tmp_path / "owner" / "clinic.duckdb"
    with ppdm_sql.connect(database) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS i; CREATE RELEASE r.t FROM t (i NEUTRAL)")
    run = CliRunner().invoke
    target = str(tmp_path / "study.duckdb")
    arguments = ["publish", "r.t", "--to", target, "--db", str(database), "--recipient", "uni"]
    assert run(cli, [*arguments, "--strict"]).exit_code == 0
    script = tmp_path / "show.sql"
    script.write_text("SHOW PUBLICATIONS")
    shown = run(cli, ["run", str(script), "--db", str(database), "--format", "csv"])
    assert "uni" in shown.output
