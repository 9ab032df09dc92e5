"""One column shown in two ways, by releases that are published together or one after the other.

Each was silent before: computed columns that are kept, recodings by LEVEL, names beside values that
are dealt out, values without names beside the same ones under a constant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import BindError, Refused, StatementError, TreatmentError

if TYPE_CHECKING:
    from pathlib import Path

    from ppdm_sql.owner import Owner

STRICT = "WITH (strict = true)"
pytestmark = pytest.mark.filterwarnings("ignore:shuffle:ppdm_sql.errors.PrivacyWarning")


@pytest.fixture
def people(owner: Owner) -> Owner:
    owner.execute(
        "CREATE TABLE p AS SELECT i AS id, (20 + hash(i) % 60)::INT AS age,"
        " (20000 + hash(i + 11) % 900 * 10)::INT AS income, ['a', 'a', 'b', 'c'][1 + (hash(i + 3) % 4)::INT] AS dx,"
        " DATE '2020-01-01' + (hash(i + 5) % 1500)::INT AS admitted, i // 3 AS phone FROM range(1000) t(i);"
        "CREATE HIERARCHY h5 AS RANGES (5); CREATE HIERARCHY h4 AS RANGES (4)"
    )
    return owner


def published(owner: Owner, folder: Path, *names: str) -> None:
    for name in names:
        owner.execute(f"PUBLISH RELEASE r.{name} TO '{folder}/{name}.duckdb' {STRICT}")


@pytest.mark.parametrize(
    ("source", "columns"),
    [
        (
            "date_trunc('month', admitted) AS m",
            "admitted NEUTRAL AS date_shift(days => 365), m NEUTRAL",
        ),
        (
            "dayofweek(admitted) AS m",
            "admitted NEUTRAL AS date_shift(days => 365), m NEUTRAL AS keep()",
        ),
        ("income % 1000 AS m", "income SENSITIVE AS round(to => 1000), m NEUTRAL"),
        ("income // 1000 AS m", "income SENSITIVE AS noise(normal(0, 8000)), m NEUTRAL"),
        ("dx = 'c' AS m", "dx SENSITIVE AS mapping(), m NEUTRAL"),
        ("dx AS m", "dx SENSITIVE AS mapping(), m NEUTRAL AS shuffle()"),
    ],
)
def test_what_is_computed_from_a_column_is_a_part_of_it(
    people: Owner, tmp_path: Path, source: str, columns: str
) -> None:
    people.execute(
        f"CREATE RELEASE r.a FROM (SELECT *, {source} FROM p) (id KEY AS pseudonym(), {columns})"
    )
    with pytest.raises(Refused, match="show one column by two rules"):
        published(people, tmp_path, "a")


def test_the_column_itself_leaves_nothing_to_tell(people: Owner, tmp_path: Path) -> None:
    people.execute(
        "CREATE RELEASE r.a FROM (SELECT *, income AS again FROM p)"
        " (id KEY AS pseudonym(), income SENSITIVE AS round(to => 1000), again NEUTRAL)"
    )
    published(people, tmp_path, "a")


def test_two_parts_that_are_kept_may_be_all_of_it(people: Owner, tmp_path: Path) -> None:
    """Red before: the year and the day of the year gave every date, and nobody said so."""
    people.execute(
        "CREATE RELEASE r.b FROM (SELECT *, dayofyear(admitted) AS d, year(admitted) AS y FROM p)"
        " (id KEY, d NEUTRAL, y NEUTRAL)"
    )
    with pytest.raises(Refused, match="'d' and 'y' show one column by two rules"):
        published(people, tmp_path, "b")
    people.execute(
        "CREATE RELEASE r.c FROM (SELECT *, income // 1000 AS a FROM p) (id KEY, a NEUTRAL);"
        "CREATE RELEASE r.d FROM (SELECT *, income % 1000 AS b FROM p) (id KEY, b NEUTRAL)"
    )
    published(people, tmp_path, "c")
    with pytest.raises(Refused, match="'b' and its 'a' show one column by two rules"):
        published(people, tmp_path, "d")


@pytest.mark.parametrize(
    ("levels", "is_said"),
    [("USING h4 LEVEL 1", True), ("USING h5 LEVEL 2", True), ("USING h5 LEVEL 1", False)],
)
def test_two_recodings_of_one_column(
    people: Owner, tmp_path: Path, levels: str, is_said: bool
) -> None:
    people.execute(
        "CREATE RELEASE r.a FROM p (id KEY AS pseudonym(), age QUASI) GENERALIZE age USING h5 LEVEL 1;"
        f"CREATE RELEASE r.b FROM p (id KEY, age QUASI) GENERALIZE age {levels}"
    )
    published(people, tmp_path, "a")
    if not is_said:
        published(people, tmp_path, "b")
        return
    with pytest.raises(Refused, match=r"r\.a was published before; 'age' and its 'age' show one"):
        published(people, tmp_path, "b")


@pytest.mark.parametrize(
    ("one", "other", "is_said"),
    [
        ("dx SENSITIVE AS mapping()", "dx SENSITIVE AS shuffle()", True),
        ("dx SENSITIVE AS mapping()", "dx SENSITIVE", True),
        ("dx SENSITIVE AS pseudonym()", "dx SENSITIVE", True),
        ("dx SENSITIVE AS fake('company')", "dx SENSITIVE", True),
        ("dx SENSITIVE AS mapping() THEN pseudonym()", "dx SENSITIVE", True),
        ("phone NEUTRAL AS pseudonym()", "phone NEUTRAL", False),
        ("income SENSITIVE AS translation()", "income SENSITIVE", True),
        ("income SENSITIVE AS scaling()", "income SENSITIVE", True),
        ("income SENSITIVE AS round(to => 1000)", "income SENSITIVE", False),
        ("dx SENSITIVE AS shuffle()", "dx SENSITIVE", False),
    ],
)
def test_values_that_nobody_can_link_give_back_order_and_frequency(
    people: Owner, tmp_path: Path, one: str, other: str, is_said: bool
) -> None:
    people.execute(
        f"CREATE RELEASE r.a FROM p (id KEY, {one}); CREATE RELEASE r.b FROM p (id KEY, {other})"
    )
    published(people, tmp_path, "a")
    if is_said:
        with pytest.raises(Refused, match="show one column by two rules"):
            published(people, tmp_path, "b")
    else:
        published(people, tmp_path, "b")


def test_an_earlier_release_that_cannot_be_read_any_more_ends_no_publication(
    people: Owner, tmp_path: Path
) -> None:
    people.execute(
        "CREATE VIEW v AS SELECT id, dx, sqrt(income) AS root FROM p;"
        "CREATE RELEASE r.a FROM v (id KEY, dx SENSITIVE AS pseudonym());"
        "CREATE RELEASE r.b FROM p (id KEY, dx SENSITIVE)"
    )
    published(people, tmp_path, "a")
    people.execute(
        "CREATE OR REPLACE VIEW v AS SELECT id, dx, 1.0 AS root FROM p WHERE error('gone ' || id) IS NULL"
    )
    with pytest.warns(match="r.a"):
        people.publish("r.b", to=tmp_path / "b.duckdb")


def test_aliases_beside_groups_of_the_same_column(people: Owner, tmp_path: Path) -> None:
    people.execute(
        "CREATE HIERARCHY dxs AS TREE (('a', 'x'), ('b', 'x'), ('c', 'y'));"
        "CREATE RELEASE r.a FROM p (id KEY, dx SENSITIVE AS mapping());"
        "CREATE RELEASE r.b FROM p (id KEY, dx QUASI) GENERALIZE dx USING dxs LEVEL 1"
    )
    published(people, tmp_path, "a")
    with pytest.raises(Refused, match="'dx' and its 'dx' show one column by two rules"):
        published(people, tmp_path, "b")


@pytest.mark.filterwarnings("ignore:.* share pseudonyms:ppdm_sql.errors.PrivacyWarning")
def test_what_goes_out_together_is_not_said_to_be_out_before(people: Owner, tmp_path: Path) -> None:
    people.execute(
        "CREATE RELEASE r.a FROM p (id KEY AS pseudonym(), income SENSITIVE AS round(to => 100),"
        " age QUASI AS round(to => 5));"
        "CREATE RELEASE r.b FROM p (id KEY AS pseudonym(), income SENSITIVE AS top_code(at => 25000),"
        " age QUASI AS top_code(at => 60))"
    )
    with pytest.raises(Refused) as said:
        people.execute(
            f"PUBLISH RELEASE r.a, r.b TO '{tmp_path}/x.duckdb'"
            " WITH (strict = true, linkable = 'publication')"
        )
    assert "r.a and r.b share pseudonyms" in said.value.what  # of one file, they are joined
    with pytest.warns(match="is in the same publication") as found:
        people.execute(
            f"PUBLISH RELEASE r.a, r.b TO '{tmp_path}/x.duckdb' WITH (linkable = 'publication')"
        )
    (rules,) = [str(one.message) for one in found if "two rules" in str(one.message)]
    assert rules == (
        "r.b: r.a is in the same publication; 'income' and its 'income' and 'age' and its 'age' show"
        " one column by two rules each: together they show more of it than each, perhaps all"
    )


def test_levels_without_until_name_nobody(people: Owner, tmp_path: Path) -> None:
    people.execute(
        "CREATE TABLE m AS SELECT i AS id, 'user' || i || '@example.org' AS mail, 10000000 + i * 7 AS nr,"
        " 'F' AS sex FROM range(1000) t(i); CREATE HIERARCHY z AS SUPPRESS DIGITS RIGHT;"
        "CREATE TABLE e AS FROM m LIMIT 0"
    )
    release = "CREATE RELEASE r.m FROM {source} (id KEY AS pseudonym(), {column} QUASI, sex QUASI) GENERALIZE {levels}"
    for column in ("mail", "nr"):
        # Level 0 is the value; at level 1, a mail still ends in the number of its person.
        for levels in (f"{column} USING z LEVEL 0", f"sex LEVEL 0, {column} USING z"):
            with pytest.raises(Refused) as refused:
                people.execute(release.format(source="m", column=column, levels=levels))
            assert refused.value.code == "identifying"
    with pytest.raises(Refused, match="also as it is generalized") as refused:
        people.execute(
            release.format(source="m", column="mail", levels="mail USING z LEVEL 11, sex LEVEL 0")
        )
    assert refused.value.code == "identifying"
    people.execute(release.format(source="m", column="nr", levels="nr USING z LEVEL 4"))
    people.execute("DROP RELEASE r.m")
    with pytest.raises(StatementError, match="two levels to choose from, and no UNTIL"):
        people.execute(release.format(source="m", column="nr", levels="nr USING z LEVEL 0 TO 4"))
    # Made while there was nobody; PUBLISH looks again.
    people.execute(release.format(source="e", column="nr", levels="nr USING z LEVEL 0"))
    people.execute("INSERT INTO e FROM m")
    with pytest.warns(match="that nobody else has"):
        people.execute("REFRESH RELEASE r.m")
    with pytest.raises(Refused) as refused:
        published(people, tmp_path, "m")
    assert refused.value.code == "identifying"


STUDY = """
CREATE TABLE c (id INT PRIMARY KEY, sex VARCHAR); INSERT INTO c SELECT i, 'F' FROM range(40) t(i);
CREATE TABLE acc (nr VARCHAR PRIMARY KEY, id INT REFERENCES c (id), kind VARCHAR);
INSERT INTO acc SELECT (4000000000 + hash(i * 2 + j) % 999999999)::VARCHAR, i, ['giro', 'savings'][1 + j]
    FROM range(40) t(i), range(2) u(j);
CREATE TABLE pay AS SELECT nr, id, CASE WHEN (kind = 'giro') = (id > 0) THEN 'rent' ELSE 'clinic' END AS what
    FROM acc;
CREATE RELEASE r.c FROM c (id KEY OF c AS pseudonym(), sex QUASI);
CREATE RELEASE r.acc FROM acc (nr NEUTRAL {acc}, id KEY OF c REFERENCES c (id) AS pseudonym(), kind QUASI);
CREATE RELEASE r.pay FROM {source} (nr NEUTRAL {pay}, id KEY OF c REFERENCES c (id) AS pseudonym(),
    what QUASI);
"""
CREATE = (
    "CREATE STUDY s OF r.c, r.acc, r.pay PERSON c UNTIL k = 3 SUPPRESS AT MOST 50 PERCENT;"
    "PUBLISH STUDY s TO '{file}' WITH (recipient = 'u')"
)


@pytest.mark.parametrize(
    ("acc", "pay", "source", "join"),
    [
        (
            "AS encrypt(keep_suffix => 4)",
            "REFERENCES acc (nr) AS partial(right => 4)",
            "pay",
            "right(acc.nr, 4) = right(pay.nr, 4)",
        ),
        (
            "AS encrypt(keep_suffix => 4)",
            "REFERENCES acc (nr) AS encrypt(keep_suffix => 3)",
            "pay",
            "right(acc.nr, 3) = right(pay.nr, 3)",
        ),
        (
            "OF account AS encrypt()",
            "OF account AS encrypt()",
            "(SELECT left(nr, 4) || ' ' || nr[5:] AS nr, id, what FROM pay)",
            "acc.nr = replace(pay.nr, ' ', '')",
        ),
    ],
    ids=["partial", "other ends", "spaces"],
)
@pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
def test_a_study_counts_what_encrypted_names_join(
    owner: Owner, tmp_path: Path, acc: str, pay: str, source: str, join: str
) -> None:
    owner.execute(STUDY.format(acc=acc, pay=pay, source=source))
    owner.execute(CREATE.format(file=tmp_path / "s.duckdb"))
    owner.execute(f"ATTACH '{tmp_path}/s.duckdb' AS s (READ_ONLY)")
    rows = owner.execute(
        "WITH j AS (SELECT acc.id, list(kind || what ORDER BY kind) AS w FROM s.r.acc AS acc"
        f" JOIN s.r.pay AS pay ON acc.id = pay.id AND {join} GROUP BY 1)"
        " SELECT count(*) FROM j GROUP BY w"
    ).fetchall()
    assert min(count for (count,) in rows) >= 3


@pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")
def test_a_study_refuses_names_that_are_written_differently(owner: Owner, tmp_path: Path) -> None:
    source = "(SELECT 'A-' || acc.nr AS nr, pay.id, what FROM pay JOIN acc USING (nr))"
    owner.execute(
        STUDY.format(acc="AS partial(right => 4)", pay="AS partial(right => 4)", source=source)
    )
    with pytest.raises(BindError, match="written differently: what the two join cannot be counted"):
        owner.execute(CREATE.format(file=tmp_path / "s.duckdb"))


def test_what_no_longer_fits_is_not_told_as_a_collision(owner: Owner, tmp_path: Path) -> None:
    owner.execute(
        "CREATE TABLE a AS SELECT i AS id, (4000000000 + i)::VARCHAR AS nr FROM range(50) t(i);"
        "CREATE RELEASE r.a FROM a (id KEY, nr NEUTRAL AS encrypt());"
        "INSERT INTO a VALUES (99, '12')"
    )
    with pytest.raises(TreatmentError, match="or none") as refused:
        owner.execute(
            f"PUBLISH RELEASE r.a TO '{tmp_path}/a.duckdb' WITH (linkable = 'publication')"
        )
    assert refused.value.hint is not None
    assert refused.value.hint.startswith("write REFRESH RELEASE, which says what does not fit")
