"""k over joined rows: cases in which every row alone looks alike, and only the joins tell apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ppdm_sql.errors import BindError, Refused

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ppdm_sql.owner import Owner

pytestmark = pytest.mark.filterwarnings("ignore::ppdm_sql.errors.PrivacyWarning")


@pytest.fixture
def here(owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Owner:
    monkeypatch.chdir(tmp_path)
    owner.execute("CREATE TABLE patients AS SELECT i::INTEGER AS id, 30 AS age FROM range(5) t(i)")
    owner.execute("CREATE RELEASE r.patients FROM patients (id KEY OF p AS pseudonym(), age QUASI)")
    return owner


def table(owner: Owner, name: str, columns: str, rows: Sequence[tuple[object, ...]]) -> None:
    owner.execute(f"CREATE TABLE {name} ({columns})")
    marks = ", ".join("?" for _ in rows[0])
    owner.connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def publish(owner: Owner, members: str, until: str = "UNTIL k = 5") -> None:
    owner.execute(f"CREATE STUDY s OF {members} PERSON p {until}")
    owner.publish_study("s", to="study.duckdb", recipient="uni")


VISITS = (
    "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym(),"
    " episode NEUTRAL OF episode AS pseudonym(), ward QUASI);"
    "CREATE RELEASE r.labs FROM labs (visit KEY REFERENCES visits (visit) AS pseudonym(), test QUASI)"
)


@pytest.mark.parametrize("members", ["r.patients, r.visits, r.labs", "r.visits, r.labs"])
@pytest.mark.parametrize("is_odd", [True, False])
def test_laboratory_values_meet_over_an_episode(here: Owner, members: str, is_odd: bool) -> None:
    """Of one person both tests of an episode are alike: labs - visit - episode - visit - labs."""
    visits, labs = [], []
    for person in range(5):
        tests = ["hiv", "hiv", "flu", "flu"] if person == 0 and is_odd else ["hiv", "flu"] * 2
        for at, test in enumerate(tests):
            visits.append((100 * person + at, person, 10 * person + at // 2, "A"))
            labs.append((100 * person + at, test))
    table(
        here,
        "visits",
        "visit INTEGER PRIMARY KEY, id INTEGER, episode INTEGER, ward VARCHAR",
        visits,
    )
    table(here, "labs", "visit INTEGER, test VARCHAR", labs)
    here.execute(VISITS)
    if is_odd:
        with pytest.raises(Refused, match="would be left out"):
            publish(here, members)
    else:
        publish(here, members)


def test_a_table_that_names_two_things_makes_long_chains(here: Owner) -> None:
    """Stay, bed, stay, bed: what the first row shows and the last one go together."""
    rows = []
    for person in range(5):
        for at, word in enumerate(["ICCS", "TCCE"] if person else ["ICCE", "TCCS"]):
            stays, beds = (0, 1, 1, 2), (0, 0, 1, 1)
            rows += [
                (person, f"{person}s{at}{stay}", f"{person}b{at}{bed}", ward)
                for stay, bed, ward in zip(stays, beds, word, strict=True)
            ]
    table(here, "moves", "id INTEGER, stay VARCHAR, bed VARCHAR, ward VARCHAR", rows)
    here.execute(
        "CREATE RELEASE r.moves FROM moves (id KEY OF p AS pseudonym(), ward QUASI,"
        " stay NEUTRAL OF stay AS pseudonym(), bed NEUTRAL OF bed AS pseudonym())"
    )
    with pytest.raises(Refused, match=r"'ward' of r.moves sets most of them apart"):
        publish(here, "r.patients, r.moves")


def test_rows_are_joined_through_a_table_that_refers_to_itself(here: Owner) -> None:
    visits: list[tuple[object, ...]] = []
    labs: list[tuple[object, ...]] = []
    for person in range(5):
        pairs = [("hiv", "b"), ("flu", "a")] if person == 0 else [("hiv", "a"), ("flu", "b")]
        for at, (before, after) in enumerate(pairs):
            first, second = 1000 + person * 10 + 2 * at, 1001 + person * 10 + 2 * at
            visits += [(first, person, None), (second, person, first)]
            labs += [(first, before), (second, after)]
    table(
        here, "visits",
        "visit INTEGER PRIMARY KEY, id INTEGER, previous INTEGER REFERENCES visits (visit)", visits,
    )  # fmt: skip
    table(here, "labs", "visit INTEGER, test VARCHAR", labs)
    here.execute(
        "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym(),"
        " previous NEUTRAL REFERENCES visits (visit) AS pseudonym());"
        "CREATE RELEASE r.labs FROM labs (visit KEY REFERENCES visits (visit) AS pseudonym(), test QUASI)"
    )
    with pytest.raises(Refused, match=r"'test' of r.labs sets most of them apart"):
        publish(here, "r.visits, r.labs", "UNTIL k = 5 ACROSS r.labs")


def test_rows_of_a_table_that_only_connects_show_nothing(here: Owner) -> None:
    """One person has more visits than the others, without any value."""
    visits = [(100 * p + at, p, 10 * p) for p in range(5) for at in range(5 if p == 0 else 2)]
    table(here, "visits", "visit INTEGER PRIMARY KEY, id INTEGER, episode INTEGER", visits)
    values = [(100 * p + at, "x") for p in range(5) for at in range(2)]
    table(here, "labs", "visit INTEGER, test VARCHAR", values)
    here.execute(
        "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym(),"
        " episode NEUTRAL AS pseudonym());"
        "CREATE RELEASE r.labs FROM labs (visit KEY REFERENCES visits (visit) AS pseudonym(), test QUASI)"
    )
    publish(here, "r.visits, r.labs", "UNTIL k = 5 ACROSS r.labs")


def test_names_of_one_thing_are_cut_alike(here: Owner) -> None:
    table(here, "visits", "visit INTEGER PRIMARY KEY, id INTEGER, ward VARCHAR", [(1, 1, "A")])
    table(here, "labs", "visit INTEGER, test VARCHAR", [(1, "x")])
    here.execute(
        "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym(),"
        " ward QUASI);"
        "CREATE RELEASE r.labs FROM labs (visit KEY REFERENCES visits (visit)"
        " AS pseudonym(length => 12), test QUASI)"
    )
    with pytest.raises(BindError, match="name the same thing in two ways") as caught:
        here.execute("CREATE STUDY s OF r.visits, r.labs PERSON p UNTIL k = 5")
    assert caught.value.code == "names_differ"
    here.execute("CREATE STUDY s OF r.visits, r.labs PERSON p")  # no k over both is promised


def swapped(owner: Owner) -> None:
    """Of person 3, the results of the two visits are swapped."""
    owner.execute(
        "CREATE TABLE v AS SELECT id * 2 + w AS visit, id, ['A', 'B'][1 + w] AS ward"
        " FROM patients, (SELECT unnest([0, 1]) AS w);"
        "CREATE TABLE l AS SELECT visit, id, CASE WHEN id = 3 THEN 1 - visit % 2 ELSE visit % 2 END AS test"
        " FROM v"
    )


@pytest.mark.parametrize("shown", ["", " AS translation(by => 1000)"])
def test_references_that_stay_equal_are_joined_like_names(here: Owner, shown: str) -> None:
    swapped(here)
    here.execute(
        f"CREATE RELEASE r.v FROM v (visit NEUTRAL{shown}, id KEY OF p AS pseudonym(), ward QUASI);"
        f"CREATE RELEASE r.l FROM l (visit NEUTRAL REFERENCES v (visit){shown}, id KEY OF p AS pseudonym(),"
        " test QUASI)"
    )
    with pytest.raises(Refused, match="would be left out"):
        publish(here, "r.v, r.l", "UNTIL k = 2")


def test_a_reference_that_is_hidden_joins_nothing(here: Owner) -> None:
    swapped(here)
    here.execute(
        "CREATE RELEASE r.v FROM v (visit NEUTRAL AS suppress(), id KEY OF p AS pseudonym(), ward QUASI);"
        "CREATE RELEASE r.l FROM l (visit NEUTRAL REFERENCES v (visit), id KEY OF p AS pseudonym(), test QUASI)"
    )
    publish(here, "r.v, r.l", "UNTIL k = 2")


def test_a_member_that_carries_names_of_another_release_is_refused(here: Owner) -> None:
    swapped(here)
    here.execute(
        "CREATE RELEASE b.v FROM v (visit NEUTRAL AS pseudonym(), id KEY OF p AS keep(), ward QUASI);"
        "CREATE RELEASE r.v FROM b.v (visit NEUTRAL, id KEY OF p AS pseudonym(), ward QUASI)"
    )
    with pytest.raises(BindError, match=r"'visit' of r\.v carries names that b\.v made") as caught:
        here.execute("CREATE STUDY s OF r.patients, r.v PERSON p")
    assert caught.value.code == "carried_names"


def test_a_table_that_is_not_asked_joins_its_own_rows(here: Owner) -> None:
    """Only visits know the episode: labs - visit - episode - visit - labs, ACROSS labs alone."""
    rows = [
        (100 * p + at, p, 10 * p + at // 2, test)
        for p in range(5)
        for at, test in enumerate(["hiv", "hiv", "flu", "flu"] if p == 0 else ["hiv", "flu"] * 2)
    ]
    table(
        here,
        "visits",
        "visit INTEGER PRIMARY KEY, id INTEGER, episode INTEGER",
        [one[:3] for one in rows],
    )
    table(here, "labs", "visit INTEGER, test VARCHAR", [(one[0], one[3]) for one in rows])
    here.execute(
        "CREATE RELEASE r.visits FROM visits (id KEY OF p AS pseudonym(), visit NEUTRAL AS pseudonym(),"
        " episode NEUTRAL OF episode AS pseudonym());"
        "CREATE RELEASE r.labs FROM labs (visit KEY REFERENCES visits (visit) AS pseudonym(), test QUASI)"
    )
    with pytest.raises(Refused, match="would be left out"):
        publish(here, "r.visits, r.labs", "UNTIL k = 5 ACROSS r.labs")


@pytest.mark.parametrize("who", ["another", "oneself"])
def test_rows_that_name_the_same_person_are_joined(here: Owner, who: str) -> None:
    """One's own rows with the same escort; or those that name oneself, and those that do not."""
    rows = []
    for p in range(5):
        for at, test in enumerate(["hiv", "hiv", "flu", "flu"] if p == 0 else ["hiv", "flu"] * 2):
            if who == "another":
                rows.append((p, 100 + 2 * p + at // 2, test))
            else:
                rows.append((p, p if (test == "hiv") == (p == 0) else 100 + p, test))
    table(here, "labs", "id INTEGER, other INTEGER, test VARCHAR", rows)
    here.execute(
        "CREATE RELEASE r.labs FROM labs (id KEY OF p AS pseudonym(), other NEUTRAL OF p AS pseudonym(),"
        " test QUASI)"
    )
    with pytest.raises(Refused, match="would be left out"):
        publish(here, "r.labs")


def test_tables_that_are_joined_by_two_columns_at_once(here: Owner) -> None:
    rows = [
        (p, 10 * p + s, "AB"[d], ["low", "high"][s == d], ["bad", "good"][(s == d) ^ (p == 0)])
        for p in range(5)
        for s in (0, 1)
        for d in (0, 1)
    ]
    columns = "id INTEGER, stay INTEGER, drug VARCHAR"
    table(here, "prescribed", f"{columns}, dose VARCHAR", [one[:4] for one in rows])
    table(here, "given", f"{columns}, effect VARCHAR", [(*one[:3], one[4]) for one in rows])
    links = (
        "id KEY OF p AS pseudonym(), stay NEUTRAL OF stay AS pseudonym(),"
        " drug NEUTRAL OF drug AS pseudonym()"
    )
    here.execute(
        f"CREATE RELEASE r.prescribed FROM prescribed ({links}, dose QUASI);"
        f"CREATE RELEASE r.given FROM given ({links}, effect QUASI)"
    )
    with pytest.raises(Refused, match="would be left out"):
        publish(here, "r.prescribed, r.given")


def test_a_pseudonym_that_is_cut_later_is_refused(here: Owner) -> None:
    table(here, "labs", "id INTEGER, visit INTEGER, test VARCHAR", [(1, 1, "x")])
    here.execute(
        "CREATE RELEASE r.labs FROM labs (id KEY OF p AS pseudonym(), test QUASI,"
        " visit NEUTRAL AS pseudonym() THEN partial(left => 8))"
    )
    with pytest.raises(BindError, match="a pseudonym that another treatment changes"):
        here.execute("CREATE STUDY s OF r.labs PERSON p UNTIL k = 5")


def test_a_member_whose_persons_are_names_is_refused(here: Owner) -> None:
    here.execute("CREATE TABLE persons AS SELECT 'p' || i AS id, 30 AS age FROM range(9) t(i)")
    here.execute(
        "CREATE RELEASE r.persons FROM persons (id KEY OF q AS pseudonym(), age QUASI);"
        "CREATE RELEASE r.again FROM r.persons (id KEY OF q AS keep(), age QUASI)"
    )
    with pytest.raises(BindError, match="nobody can tell who is who"):
        here.execute("CREATE STUDY s OF r.persons, r.again PERSON q")
