"""Fixtures: a fresh owner in memory or in a file, a small table of people."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import ppdm_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same cases every time: whether a change passes must not depend on luck. `make soak` draws new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile(os.environ.get("PPDM_CASES", "same"))

PEOPLE = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.people (id BIGINT, name VARCHAR, age INTEGER, weight DOUBLE, income DECIMAL(10, 2),
                            illness VARCHAR, ward VARCHAR);
INSERT INTO clinic.people VALUES
    (1, 'Ada', 30, 61.5, 1200.50, 'Flu', 'A'),
    (2, 'Bo', 40, 72.0, 2300.00, 'HIV', 'B'),
    (3, 'Cy', 70, 80.25, 3100.75, 'Flu', 'A'),
    (4, 'Di', 25, NULL, 900.00, 'Cancer', 'C'),
    (5, 'Ed', NULL, 55.0, NULL, NULL, NULL),
    (6, 'Fa', 58, 99.0, 4100.10, 'Cancer', 'B');
"""


@pytest.fixture
def owner() -> Iterator[Owner]:
    """An owner in memory, with nothing in it."""
    with ppdm_sql.connect(":memory:") as opened:
        yield opened


@pytest.fixture
def people(owner: Owner) -> Owner:
    """An owner in memory with the table clinic.people."""
    owner.execute(PEOPLE)
    return owner


@pytest.fixture
def safe(tmp_path: Path) -> Path:
    """The path of a database that does not exist yet, in a folder that does not either."""
    return tmp_path / "owner" / "clinic.duckdb"


@pytest.fixture(scope="session")
def adult() -> Path:
    """The folder of UCI Adult; skips where it is absent."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
    folder = Path(os.environ.get("PPDM_ADULT", beside))
    if not (folder / "adult_32561.csv").exists():
        pytest.skip("UCI Adult is in neither ../shared/data/adult nor $PPDM_ADULT")
    return folder


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Make a skip a failure where what the test needs was installed: PPDM_NO_SKIPS=1."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's Result
    if report.skipped and os.environ.get("PPDM_NO_SKIPS") == "1":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and nothing may be here"
