"""Record a store of this version of the program, and what it gives: `python tests/stores/record.py`.

Run once for each format, by the last version that wrote it. A later version must open the file and
give the same values; tests/session/test_earlier_stores.py asks it to.
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import duckdb

import ppdm_sql

SCRIPT = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.people AS SELECT
    i AS id, 'name ' || i AS name, (20 + i * 7 % 60)::INTEGER AS age,
    50 + i * 1.25 AS weight, (1000 + i * 17.5)::DECIMAL(10, 2) AS income,
    ['Flu', 'HIV', 'Cancer', 'Asthma'][1 + i % 4] AS illness,
    ['A', 'B', 'C'][1 + i % 3] AS ward, DATE '2020-01-01' + (i * 11)::INTEGER AS seen,
    42000 + i * 13 % 90 AS zip
FROM range(40) AS r (i);
CREATE HIERARCHY ages AS RANGES (10, 20, 40);
CREATE HIERARCHY wards AS TREE (('A', 'east', '*'), ('B', 'east', '*'), ('C', 'west', '*'));
CREATE HIERARCHY digits AS SUPPRESS DIGITS RIGHT;
CREATE RELEASE r.treated FROM clinic.people (
    id      KEY       AS pseudonym(prefix => 'P-'),
    name    IDENTIFIER,
    age     QUASI     AS graded_grouping(bands => [0, 30, 60, 100]),
    weight  SENSITIVE AS noise(normal(0, 3)),
    income  SENSITIVE AS bit_plus(),
    illness SENSITIVE AS mapping(prefix => 'Illness'),
    ward    NEUTRAL,
    seen    SENSITIVE AS translation(),
    zip     QUASI     AS scaling() THEN translation(by => 3)
);
CREATE RELEASE r.geometric FROM clinic.people (
    id KEY, (age, weight) SENSITIVE AS rotation(), income SENSITIVE AS bit_minus(),
    zip QUASI AS microaggregation(size => 5)
);
CREATE RELEASE r.drawn FROM clinic.people (
    id KEY AS keep(), (age, weight) SENSITIVE AS hybrid(), income SENSITIVE AS mean_noise(),
    zip QUASI AS noise(laplace(0, 2), rho => 50), illness SENSITIVE AS suppress()
);
CREATE RELEASE r.grouped FROM clinic.people (
    id KEY, age QUASI, ward QUASI, zip QUASI, illness SENSITIVE
) GENERALIZE age USING ages, ward USING wards, zip USING digits
  UNTIL k = 3, l(illness) = 2 SUPPRESS AT MOST 20 PERCENT;
CREATE RELEASE r.high FROM clinic.people (
    id KEY AS pseudonym(), age QUASI, ward QUASI, illness SENSITIVE
) GENERALIZE age USING ages, ward USING wards WHEN illness IN ('HIV', 'Cancer')
  UNTIL k = 2 WITH (suppressed = 'star');
CREATE AGREEMENT north (id KEY AS pseudonym(), illness SENSITIVE AS mapping());
CREATE RELEASE r.agreed FROM clinic.people (
    id KEY AS pseudonym(), illness SENSITIVE AS mapping()
) WITH (agreement = 'north');
CREATE RELEASE r.again FROM r.treated (age NEUTRAL, ward NEUTRAL);
"""
LATER = """
INSERT INTO clinic.people SELECT 100 + i, 'new ' || i, 30 + i, 70, 1500, 'Flu', 'A',
    DATE '2021-05-05', 42007 FROM range(3) AS r (i);
REFRESH RELEASE r.treated;
CREATE OR REPLACE RELEASE r.drawn FROM clinic.people (illness SENSITIVE AS mapping());
"""
NOISES = """
CREATE SCHEMA clinic; CREATE SCHEMA r;
CREATE TABLE clinic.visits AS SELECT i AS visit, i % 10 AS id, 50 + i * 1.25 AS weight,
    (150 + i * 7 % 50)::INTEGER AS height FROM range(40) AS r (i);
CREATE RELEASE r.persons FROM clinic.visits (
    id KEY, weight SENSITIVE AS noise(normal(0, 9), per => 'person'), height NEUTRAL
);
CREATE RELEASE r.chains FROM clinic.visits (
    visit KEY, height SENSITIVE AS bit_plus() THEN noise(normal(0, 9)),
    weight SENSITIVE AS noise(laplace(-0.0, 9), rho => 50)
);
CREATE RELEASE r.turned FROM clinic.visits (
    visit KEY, (weight, height) SENSITIVE AS rotation() THEN noise(normal(0, 9), normal(0, 9))
);
"""
"""Noise as formula 2 drew it."""
TURNS = """
CREATE SCHEMA clinic; CREATE SCHEMA r;
CREATE TABLE clinic.people AS SELECT i AS id, i * 1.5 AS a, i * 7 % 41 AS b, i * 11 % 23 * 0.5 AS c,
    i * 13 % 31 AS d, 1000 + i * i % 977 AS pay FROM range(40) AS r (i);
CREATE RELEASE r.four FROM clinic.people (id KEY AS keep(), (a, b, c, d) NEUTRAL AS rotation());
CREATE RELEASE r.three FROM clinic.people (id KEY AS keep(), (a, b, c) NEUTRAL AS rotation());
CREATE RELEASE r.one_angle FROM clinic.people (
    id KEY AS keep(), (a, b, c, d) NEUTRAL AS rotation(degrees => 30)
);
CREATE RELEASE r.angles FROM clinic.people (
    id KEY AS keep(), (a, b, c) NEUTRAL AS rotation(degrees => [30, 40])
) WITH (execution = 'udf');
CREATE RELEASE r.mixed FROM clinic.people (id KEY AS keep(), (a, b, c, d) NEUTRAL AS hybrid());
CREATE RELEASE r.same FROM clinic.people (
    id KEY AS keep(),
    (a, b, c, d) NEUTRAL AS hybrid(rotation(30), rotation(30), rotation(30), rotation(30))
);
CREATE RELEASE r.means FROM clinic.people (id KEY AS keep(), pay SENSITIVE AS microaggregation(size => 3));
"""
"""Pairs as formula 4 turned them, groups as it formed them."""
TURNED = ("four", "three", "one_angle", "angles", "mixed", "same")
RELEASES = ("treated", "geometric", "drawn", "grouped", "high", "agreed", "again")
PREDICATES = {
    "treated": ["age >= 1.5", "illness = 'Illness_2'", "zip > 50000"],
    "geometric": ["age > 10", "income = 1000.00"],
    "grouped": ["age = '[20, 40)'"],
}


def rows(owner: Any, name: str) -> list[list[str]]:
    """Return the rows of a release as texts, in an order of their own."""
    found = owner.execute(f"FROM r.{name}").fetchall()
    return sorted([str(cell) for cell in row] for row in found)


def published(owner: Any, folder: Path, name: str) -> list[list[str]]:
    """Return the rows of a release as they are published."""
    target = folder / f"out-{name}.duckdb"
    owner.publish(f"r.{name}", to=target)
    with duckdb.connect(str(target), read_only=True) as file:
        found = file.execute(f"FROM r.{name}").fetchall()
    target.unlink()
    return sorted([str(cell) for cell in row] for row in found)


def interpreted(owner: Any) -> dict[str, str]:
    """Return conditions in original terms."""
    return {
        f"{name}: {predicate}": owner.interpret(f"r.{name}", predicate).original
        for name, predicates in PREDICATES.items()
        for predicate in predicates
    }


def facts(owner: Any, folder: Path) -> dict[str, Any]:
    """Return everything that a later version must give again."""
    return {
        "rows": {name: rows(owner, name) for name in RELEASES},
        "published": {name: published(owner, folder, name) for name in RELEASES},
        "interpreted": interpreted(owner),
        "version_1": owner.interpret("r.drawn", "age > 10 AND weight < 5", version=1).original,
        "releases": [
            [info.release, info.version, info.source, info.columns, info.rows, info.waiting]
            for info in owner.releases()
        ],
        "figures": [[f.figure, f.value, f.note] for f in owner.figures("r.grouped")],
    }


def noises(owner: Any) -> dict[str, Any]:
    """Return the rows of releases with noise."""
    return {name: rows(owner, name) for name in ("persons", "chains", "turned")}


def turns(owner: Any, folder: Path) -> dict[str, Any]:
    """Return the rows of releases with turned columns, and conditions on them in original terms."""
    return {
        "rows": {name: rows(owner, name) for name in (*TURNED, "means")},
        "published": {name: published(owner, folder, name) for name in TURNED},
        "interpreted": {
            name: [owner.interpret(f"r.{name}", f"{column} > 5").original for column in "abc"]
            for name in TURNED
        },
    }


def main(target: Path) -> None:
    """Write the store and what it gives."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = folder / "owner" / "clinic.duckdb"
        with ppdm_sql.connect(database) as owner:
            if target.name == "formula_4":
                owner.execute(TURNS)
                found = turns(owner, folder)
            elif target.name == "formula_2":
                owner.execute(NOISES)
                found = noises(owner)
            else:
                owner.execute(SCRIPT + LATER)
                found = facts(owner, folder)
        target.mkdir(parents=True, exist_ok=True)
        (target / "expected.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        with database.open("rb") as source, gzip.open(target / "clinic.duckdb.gz", "wb") as packed:
            shutil.copyfileobj(source, packed)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
