"""What others may rely on: names, types, a quick import."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from importlib.metadata import entry_points, version
from importlib.resources import files
from pathlib import Path

import pytest

import ppdm_sql

HEAVY = ("duckdb", "pyarrow", "pandas", "sqlglot", "numpy", "cryptography", "click", "rich")


def test_the_public_names_are_these() -> None:
    assert sorted(ppdm_sql.__all__) == [
        "Analyst",
        "BindError",
        "Combined",
        "EngineError",
        "InternalError",
        "Owner",
        "PpdmError",
        "PrivacyWarning",
        "Published",
        "Refused",
        "Report",
        "Result",
        "StatementError",
        "StoreError",
        "Treatment",
        "TreatmentError",
        "__version__",
        "combine",
        "connect",
        "open_release",
        "reconstruct",
        "register",
    ]


def test_every_public_name_is_there_and_says_what_it_is() -> None:
    for name in ppdm_sql.__all__:
        thing = getattr(ppdm_sql, name)
        assert name == "__version__" or (thing.__doc__ or "").strip()


def test_nothing_else_looks_public() -> None:
    shown = {
        name
        for name, thing in vars(ppdm_sql).items()
        if not name.startswith("_") and not inspect.ismodule(thing)
    }
    shown -= {"annotations", "TYPE_CHECKING", "import_module"}
    # Types come when they are asked for.
    assert shown | set(ppdm_sql._TYPES) == set(ppdm_sql.__all__) - {"__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = ppdm_sql.Nothing
    assert dir(ppdm_sql) == sorted(ppdm_sql.__all__)


def test_errors_have_the_roots_they_say() -> None:
    for name in ("StatementError", "BindError", "TreatmentError", "Refused", "StoreError"):
        assert issubclass(getattr(ppdm_sql, name), ppdm_sql.PpdmError)
    assert issubclass(ppdm_sql.EngineError, ppdm_sql.PpdmError)
    assert not issubclass(ppdm_sql.InternalError, ppdm_sql.PpdmError)
    assert issubclass(ppdm_sql.PrivacyWarning, UserWarning)


def test_the_version_is_that_of_the_package() -> None:
    assert version("ppdm-sql") == ppdm_sql.__version__


def test_types_are_published() -> None:
    assert files("ppdm_sql").joinpath("py.typed").is_file()


def test_the_sql_of_the_store_is_shipped() -> None:
    assert files("ppdm_sql.store").joinpath("sql", "format_2.sql").is_file()


def test_the_command_is_called_ppdm() -> None:
    (command,) = entry_points(group="console_scripts", name="ppdm")
    assert command.value == "ppdm_sql.cli:main"


def test_importing_brings_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import ppdm_sql\n"
        "import json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    roots = {module.partition(".")[0] for module in json.loads(done.stdout)}
    assert not roots & set(HEAVY)


@pytest.mark.parametrize("flag", ["-O", "-OO", "-B", "-I"])
def test_importing_works_under_the_flags_of_python(flag: str) -> None:
    subprocess.run([sys.executable, flag, "-c", "import ppdm_sql"], check=True, cwd="/")


def test_connect_takes_a_text_or_a_path(safe: Path) -> None:
    for database in (str(safe), safe, ":memory:"):
        with ppdm_sql.connect(database) as owner:
            assert owner.releases() == []


def test_connect_takes_treatments_by_name_only() -> None:
    assert list(inspect.signature(ppdm_sql.connect).parameters) == [
        "database",
        "treatments",
        "show_engine_errors",
    ]
    kind = inspect.signature(ppdm_sql.connect).parameters["treatments"].kind
    assert kind is inspect.Parameter.KEYWORD_ONLY


def test_the_example_in_the_docstring_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("release.sql").write_text(
        "CREATE SCHEMA clinic; CREATE TABLE clinic.patients AS SELECT 1 AS id, 'F' AS sex;"
        "CREATE RELEASE research.patients FROM clinic.patients (id KEY AS pseudonym(), sex QUASI)"
    )
    owner = ppdm_sql.connect("owner/clinic.duckdb")
    owner.execute(Path("release.sql").read_text())
    assert owner.sql("FROM research.patients").df().shape == (1, 2)
    owner.execute("PUBLISH RELEASE research.patients TO 'study.duckdb'")
    study = ppdm_sql.open_release("study.duckdb")
    assert study.sql("SELECT count(*) FROM research.patients").fetchone() == (1,)
    study.close()
    owner.close()
