"""Publishing a study against publishing each of its releases alone."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.measure import Figure, best
from bench.spine import open_owner

_TABLES = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.patients AS SELECT i::INTEGER AS patient_id, (18 + hash(i) % 80)::INTEGER AS age,
    (hash(i * 3) % 2)::INTEGER AS sex FROM range({persons}) AS r (i);
CREATE TABLE clinic.visits AS SELECT i::INTEGER AS visit_id, (hash(i * 7) % {persons})::INTEGER AS patient_id,
    DATE '2023-01-01' + (hash(i * 11) % 700)::INTEGER AS admitted, (hash(i * 5) % 4)::INTEGER AS ward
    FROM range(3 * {persons}) AS r (i);
CREATE TABLE clinic.labs AS SELECT i::INTEGER AS lab_id, (hash(i * 17) % (3 * {persons}))::INTEGER AS visit_id,
    TIMESTAMP '2023-01-01' + INTERVAL (hash(i * 19) % 1000000) MINUTE AS taken, (hash(i * 23) % 100)::DOUBLE AS value
    FROM range(6 * {persons}) AS r (i);
CREATE HIERARCHY ages AS RANGES (10, 20, 40);
CREATE RELEASE research.patients FROM clinic.patients (
    patient_id KEY OF patient AS pseudonym(), age QUASI, sex QUASI
) GENERALIZE age USING ages, sex UNTIL k = 5 SUPPRESS AT MOST 1%;
CREATE RELEASE research.visits FROM clinic.visits (
    visit_id NEUTRAL AS pseudonym(),
    patient_id KEY OF patient REFERENCES clinic.patients (patient_id) AS pseudonym(),
    admitted NEUTRAL AS date_shift(), ward NEUTRAL
);
CREATE RELEASE research.labs FROM clinic.labs (
    visit_id KEY REFERENCES clinic.visits (visit_id) AS pseudonym(), taken NEUTRAL AS date_shift(),
    value NEUTRAL
);
"""
_MEMBERS = ("research.patients", "research.visits", "research.labs")


def run(rows: int) -> Iterator[Figure]:
    """Measure at a tenth of `rows` persons or fewer: ten rows a person in three tables."""
    persons = max(rows // 50, 1_000)
    with (
        tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench") as folder,
        open_owner() as owner,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        owner.execute(_TABLES.format(persons=persons))
        owner.execute("CHECKPOINT")
        alone = 0.0
        for name in _MEMBERS:
            alone += best(partial(owner.publish, name, to=Path(folder) / "one.duckdb"))
        what = f"{10 * persons / 1e6:g} M rows of {persons:,} persons in three tables"
        yield Figure(f"PUBLISH RELEASE of each of three releases, {what}", alone, "s")
        for title, until in (
            ("", ""),
            (", k over one", " UNTIL k = 2 ACROSS research.patients SUPPRESS AT MOST 50 PERCENT"),
            (", k over all, joined", " UNTIL k = 2 SUPPRESS AT MOST 99 PERCENT"),
        ):
            owner.execute(
                f"CREATE OR REPLACE STUDY s OF {', '.join(_MEMBERS)} PERSON patient{until}"
            )
            study = best(
                lambda: owner.publish_study("s", to=Path(folder) / "study.duckdb", recipient="a")
            )
            yield Figure(f"PUBLISH STUDY{title}", study, "s")
            yield Figure(
                f"PUBLISH STUDY{title} / its releases, one by one",
                study / alone,
                "×",
                1.3,
            )
