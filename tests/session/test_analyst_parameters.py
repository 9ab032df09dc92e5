"""Values that go with an analyst's statement."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ppdm_sql
from ppdm_sql import StatementError
from ppdm_sql.analyst.parameters import from_message, to_message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ppdm_sql.analyst.session import Analyst
    from ppdm_sql.owner import Owner

DEEP: list[object] = []
for _ in range(5_000):
    DEEP = [DEEP]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Analyst]:
    """A published table of six wards."""
    path = tmp_path_factory.mktemp("study") / "study.duckdb"
    with ppdm_sql.connect(":memory:") as owner:
        owner.execute(
            "CREATE TABLE t AS SELECT i AS n, chr((65 + i)::INT) AS ward, DATE '2020-01-01' + i::INT AS d"
            " FROM range(6) r(i); CREATE RELEASE r.t FROM t (n NEUTRAL, ward NEUTRAL, d NEUTRAL)"
        )
        owner.publish("r.t", to=path)
    with ppdm_sql.open_release(path) as opened:
        yield opened


@pytest.mark.parametrize(
    ("condition", "parameters", "expected"),
    [
        ("n = ?", [3], 1),
        ("n = ?", (np.int64(3),), 1),
        ("n BETWEEN ? AND ?", [1, 4], 4),
        ("ward = $w AND n < $n", {"w": "B", "n": 5}, 1),
        ("d >= $d", {"d": date(2020, 1, 3)}, 4),
        ("n IN ?", [[1, 2, 99]], 2),
        ("ward = ?", ["' OR TRUE --"], 0),
        ("ward IS NOT DISTINCT FROM ?", [None], 0),
    ],
)
def test_values_go_with_a_statement(
    study: Analyst, condition: str, parameters: object, expected: int
) -> None:
    found = study.sql(f"SELECT count(*) FROM r.t WHERE {condition}", parameters)  # type: ignore[arg-type]
    assert found.fetchall() == [(expected,)]


def test_values_travel_as_they_are(study: Analyst) -> None:
    values = [
        None, True, 2**70, 0.1, float("inf"), "ü☃", date(2020, 2, 29), datetime(2020, 1, 2, 3, 4, 5, 6),
        time(1, 2, 3, 4), Decimal("1.20"), [1, [2, None]],
    ]  # fmt: skip
    assert from_message(to_message(values)) == values
    assert from_message(to_message({"a": 1.5, "b": Decimal(2)})) == {"a": 1.5, "b": Decimal(2)}
    kept = [value for value in values if not isinstance(value, list)]
    marks = ", ".join("?" * len(kept))
    assert list(study.sql(f"SELECT {marks}", kept).fetchall()[0]) == kept


@pytest.mark.parametrize(
    ("statement", "parameters", "said"),
    [
        ("SELECT ?", (), r"there is no value for the parameter \$1"),
        ("SELECT $a", {"b": 1}, r"there is no value for the parameter \$a"),
        ("SELECT 1", [1], r"the statement has no parameter \$1"),
        ("SELECT ?", "abc", "a list, or a dict"),
        ("SELECT ?", 1, "a list, or a dict"),
        ("SELECT ?", [object()], "of type object"),
        ("SELECT ?", [DEEP], "nested too deep"),
    ],
)
def test_what_does_not_fit(study: Analyst, statement: str, parameters: object, said: str) -> None:
    with pytest.raises(StatementError, match=said) as caught:
        study.sql(statement, parameters)  # type: ignore[arg-type]
    assert caught.value.code == "parameters"


def test_the_gate_is_as_strict_as_before(study: Analyst) -> None:
    for statement in (
        "FROM query(?)",
        "FROM read_csv(?)",
        "SELECT getenv(?)",
        "FROM query_table(?)",
    ):
        with pytest.raises(ppdm_sql.Refused, match="may not be used here"):
            study.sql(statement, ["r.t"])


def test_publish_says_what_was_published(people: Owner, tmp_path: Path) -> None:
    people.execute("CREATE RELEASE r.p FROM clinic.people (id KEY AS pseudonym(), ward NEUTRAL)")
    done = people.publish("r.p", to=tmp_path / "study.duckdb", recipient="north")
    assert isinstance(done, ppdm_sql.Published)
    assert done.path == tmp_path / "study.duckdb"
    assert done.warnings == ()
    assert str(done) == done.message == f"published r.p (version 1, 6 rows) to '{done.path}'"
    assert repr(done) == f"<{done.message}>"
    assert list(done.releases) == people.publications()
    (one,) = done.releases
    assert (str(one.release), one.version, one.rows, one.persons) == ("r.p", 1, 6, 6)
    assert one.publication.recipient == "north"
    again = people.publish("r.p", to=tmp_path / "study.duckdb")
    assert again.replaced == done.publication.published_at
    assert "in place of the publication of" in again.message


def test_a_warning_points_at_its_caller(people: Owner, tmp_path: Path) -> None:
    people.execute("CREATE RELEASE r.p FROM clinic.people (id KEY AS pseudonym(), ward NEUTRAL)")
    people.execute("CREATE RELEASE r.q FROM clinic.people (id KEY AS pseudonym(), age NEUTRAL)")
    with pytest.warns(ppdm_sql.PrivacyWarning, match="share") as caught:
        people.publish("r.p", "r.q", to=tmp_path / "a.duckdb")
    with pytest.warns(ppdm_sql.PrivacyWarning, match="share") as caught_too:
        people.execute(f"PUBLISH RELEASE r.p, r.q TO '{tmp_path}/b.duckdb'")
    assert {warning.filename for warning in [*caught, *caught_too]} == {__file__}
