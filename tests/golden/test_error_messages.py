"""Every message as people see it: `errors/<case>.sql` is run, `errors/<case>.txt` is what it says.

`errors/<case>.setup.sql`, where there is one, is run before. `PPDM_WRITE_GOLDEN=1` writes the
texts anew; read the difference before it is kept.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ppdm_sql
from ppdm_sql.errors import suggest
from ppdm_sql.language.script import STATEMENTS
from ppdm_sql.treatments import TREATMENTS

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

_FOLDER = Path(__file__).parent / "errors"
_CASES = sorted(path.stem for path in _FOLDER.glob("*.sql") if not path.name.endswith(".setup.sql"))
_WRITES = os.environ.get("PPDM_WRITE_GOLDEN") == "1"


def _read(name: str) -> str:
    # Bytes, because line ends are part of a case.
    return (_FOLDER / name).read_bytes().decode("utf-8")


def _state(owner: Owner) -> tuple[object, ...]:
    """Everything that a statement could have left behind."""
    listings = (
        "SELECT database_name, schema_name FROM duckdb_schemas() ORDER BY ALL",
        "SELECT database_name, schema_name, table_name FROM duckdb_tables() ORDER BY ALL",
        "SELECT database_name, schema_name, view_name, sql FROM duckdb_views() ORDER BY ALL",
        "FROM clinic.people ORDER BY ALL",
    )
    found = [owner.connection.execute(listing).fetchall() for listing in listings]
    shown = [owner.execute(f"SHOW {what}").fetchall() for what in ("RELEASES", "HIERARCHIES")]
    return (*found, *shown)


def _told(error: ppdm_sql.PpdmError) -> str:
    # The lists of all treatments and of all statements grow; the golden texts need not.
    listed = suggest("", (treatment.keyword for treatment in TREATMENTS))
    told = f"{type(error).__name__}: {error}\n".replace(listed, "known: <all treatments>")
    told = told.replace(str(Path.cwd()), "<here>")
    return told.replace(", ".join(STATEMENTS), "<all statements>")


@pytest.mark.parametrize("case", _CASES)
def test_a_mistake_is_told_with_its_place_and_changes_nothing(
    case: str, people: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if (_FOLDER / f"{case}.setup.sql").exists():
        people.execute(_read(f"{case}.setup.sql"))
    before = _state(people)

    with pytest.raises(ppdm_sql.PpdmError) as caught:
        people.execute(_read(f"{case}.sql"))

    told = _told(caught.value)
    if _WRITES:
        (_FOLDER / f"{case}.txt").write_bytes(told.encode("utf-8"))
    assert told == _read(f"{case}.txt")
    assert _state(people) == before
    assert list(tmp_path.iterdir()) == []


def test_every_text_belongs_to_a_case() -> None:
    assert sorted(path.stem for path in _FOLDER.glob("*.txt")) == _CASES
    setups = {path.name.removesuffix(".setup.sql") for path in _FOLDER.glob("*.setup.sql")}
    assert setups <= set(_CASES)


@pytest.mark.parametrize("case", [case for case in _CASES if "windows" in case])
def test_windows_lines_are_still_windows_lines(case: str) -> None:
    text = _read(f"{case}.sql")
    assert text.count("\r\n") == text.count("\n") > 0


@pytest.mark.parametrize("case", _CASES)
def test_a_text_has_the_shape_of_a_message(case: str) -> None:
    first, *rest = _read(f"{case}.txt").splitlines()
    kind, what = first.split(": ", 1)
    assert kind in ppdm_sql.__all__
    assert what
    assert not what.endswith(".")
    if kind != "EngineError":  # DuckDB's own words begin as DuckDB likes
        assert not what[0].isupper() or what.split()[0].isupper()
    carets = [line for line in rest if line.strip() and not line.strip("^ ")]
    assert len(carets) == 1, "one line of carets"
