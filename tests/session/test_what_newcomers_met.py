"""What newcomers stumbled over: each gave a wrong or an unsafe result without a word."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pytest

import ppdm_sql
from ppdm_sql.errors import PpdmError, PrivacyWarning, Refused, TreatmentError
from ppdm_sql.treatments.treatment import Treatment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlglot import exp

    from ppdm_sql.owner import Owner
    from ppdm_sql.treatments.protocol import Scope


def test_a_share_that_is_written_as_one_of_one_is_warned_of(owner: Owner) -> None:
    """99 percent, and not 0.99; half of the rows, and not half a percent."""
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 70 + 0.5 AS x FROM range(1000) s(i)")
    with pytest.warns(PrivacyWarning, match="are shown as the limit; 'percent' is a number"):
        owner.execute("CREATE RELEASE r.a FROM t (id KEY, x NEUTRAL AS top_code(percent => 0.99))")
    with pytest.warns(PrivacyWarning, match="fewer than one of a hundred rows get noise"):
        owner.execute(
            "CREATE RELEASE r.b FROM t (id KEY, x NEUTRAL AS noise(normal(0, 9), rho => 0.5))"
        )


def test_without_quasi_no_k_is_reached(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 7 AS x FROM range(100) s(i)")
    owner.execute("CREATE RELEASE r.a FROM t (id KEY, x SENSITIVE)")
    (outcome,) = owner.audit("r.a", require="k>=5").outcomes
    assert not outcome.is_met


def test_results_with_names_of_a_recipient_are_said_to_be_lost(
    owner: Owner, tmp_path: Path
) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 7 AS x FROM range(100) s(i)")
    owner.execute("CREATE RELEASE r.a FROM t (id KEY AS pseudonym(), x NEUTRAL)")
    path = tmp_path / "a.duckdb"
    owner.publish("r.a", to=path, recipient="uni", linkable="recipient")
    with duckdb.connect(str(path), read_only=True) as file:
        found = file.sql("SELECT id FROM r.a LIMIT 3").to_arrow_table()
    done = owner.interpret_table("r.a", found)
    assert done.table["id"].null_count == 3
    assert any("need PUBLICATION" in note for note in done.notes)
    name = str(owner.publications()[0].publication.name)
    right = owner.interpret_table("r.a", found, publication=name)
    assert right.table["id"].null_count == 0
    assert right.notes == ()


@pytest.mark.parametrize("name", ["Nachname", "Vor- und Nachname", "last_name", "surname"])
def test_a_column_that_is_called_like_names_is_warned_of(owner: Owner, name: str) -> None:
    owner.execute(
        f"CREATE TABLE t AS SELECT i AS id, 'n' || i % 20 AS \"{name}\" FROM range(500) s(i)"
    )
    with pytest.warns(PrivacyWarning, match="called as names of persons are"):
        owner.execute(f'CREATE RELEASE r.a FROM t (id KEY, "{name}" NEUTRAL)')


def test_more_values_than_there_are(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 7 AS a, i % 3 AS ill FROM range(100) s(i)")
    with pytest.raises(Refused, match="'ill' has 3 values in all"):
        owner.execute(
            "CREATE RELEASE r.a FROM t (id KEY, a QUASI, ill SENSITIVE) GENERALIZE a UNTIL l(ill) = 9"
        )


def test_days_are_days_for_pandas(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT DATE '2024-01-31' AS day UNION ALL SELECT NULL")
    assert list(owner.execute("FROM t").df()["day"].dt.month.dropna()) == [1]
    far = owner.execute("SELECT DATE '200000-01-01' AS day").df()
    assert len(far) == 1


class Bare(Treatment):
    """A treatment with a mistake: one expression, and no tuple."""

    keyword = "bare"
    summary = "nothing"
    undone_by = "nothing"

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        return inputs[0]  # type: ignore[return-value]


class Mute(Treatment):
    keyword = "mute"


def test_a_treatment_with_a_mistake_is_told_what_is_wrong() -> None:
    with ppdm_sql.connect(":memory:", treatments=[Bare]) as owner:
        owner.execute("CREATE TABLE t AS SELECT 1 AS x")
        with pytest.raises(TreatmentError, match="to_expr must return a tuple") as caught:
            owner.execute("CREATE RELEASE r.a FROM t (x NEUTRAL AS bare())")
        assert caught.value.code == "wrong_treatment"


@pytest.mark.parametrize("given", [Bare, [1], [Mute], ["bare"]])
def test_what_is_no_treatment_is_refused(given: object) -> None:
    with pytest.raises(PpdmError) as caught:
        ppdm_sql.connect(":memory:", treatments=given)  # type: ignore[arg-type]
    assert caught.value.code == "wrong_treatment"


def test_a_reader_that_goes_away_is_no_bug(tmp_path: Path) -> None:
    folder = tmp_path / "owner"
    folder.mkdir(mode=0o700)
    asked = [sys.executable, "-m", "ppdm_sql", "run", "--db", str(folder / "a.duckdb")]
    with subprocess.Popen(
        [*asked, "--format", "csv", "-c", "SELECT i FROM range(1000000) t(i)"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 141


def test_a_generalized_column_that_stayed_is_called_so(owner: Owner, tmp_path: Path) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 2 AS a, i AS b FROM range(100) s(i)")
    owner.execute(
        "CREATE RELEASE r.a FROM t (id KEY, a QUASI, b QUASI) GENERALIZE a, b UNTIL k = 5"
    )
    owner.publish("r.a", to=tmp_path / "a.duckdb")
    with ppdm_sql.open_release(tmp_path / "a.duckdb") as file:
        found = dict(file.sql("SELECT column_name, meaning FROM codebook").fetchall())
    assert found["a"] == "the original value"
    assert found["b"].startswith("coarser")


def test_no_polars_is_said(owner: Owner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(PpdmError, match="polars is not installed"):
        owner.execute("SELECT 1").pl()


def test_a_table_of_results_without_names_says_nothing(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i % 7 AS x FROM range(100) s(i)")
    owner.execute("CREATE RELEASE r.a FROM t (id KEY AS pseudonym(), x NEUTRAL)")
    assert owner.interpret_table("r.a", pa.table({"x": [1]})).notes == ()


def test_a_path_that_no_system_has_is_told() -> None:
    with pytest.raises(PpdmError) as caught:
        ppdm_sql.connect("a\0b")
    assert caught.value.code == "bad_path"


def test_a_quoted_name_is_quoted_once(owner: Owner) -> None:
    owner.execute('CREATE TABLE t AS SELECT i AS id, i % 3 AS "edu-num" FROM range(9) s(i)')
    with pytest.raises(PpdmError) as caught:
        owner.execute('CREATE RELEASE r.a FROM t (id KEY, "edu-num" NEUTRAL AS partial(left => 2))')
    assert 'treat "edu-num" of type' in caught.value.what
    assert "'\"" not in caught.value.what
