"""UCI Adult as documents 000 and 001 mine it, and as it is released: age graded, education mapped."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ppdm_sql

if TYPE_CHECKING:
    import pandas as pd

    from ppdm_sql.owner import Owner

CLASS = "education"
CATEGORIES = (
    "workclass", "education", "marital_status", "occupation", "relationship", "race", "sex",
    "native_country",
)  # fmt: skip
_SOURCE = """
CREATE SCHEMA census;
CREATE TABLE census.adult AS
SELECT row_number() OVER () AS n, age, workclass, education, "marital-status" AS marital_status,
       occupation, relationship, race, sex, "native-country" AS native_country
FROM read_csv($file, all_varchar => false)
"""
_RELEASE = """
CREATE RELEASE research.adult FROM census.adult (
    n              NEUTRAL,
    age            QUASI     AS graded_grouping(bands => [15, 30, 45, 60, 75, 90]),
    workclass      QUASI,
    education      SENSITIVE AS mapping(prefix => 'Education'),
    marital_status QUASI,
    occupation     QUASI,
    relationship   QUASI,
    race           QUASI,
    sex            QUASI,
    native_country QUASI
) WITH (accept = ['identifying(n)'])
"""


@dataclass(frozen=True)
class Adult:
    """Both tables, row by row in the same order, and the owner who can read results back."""

    original: pd.DataFrame
    released: pd.DataFrame
    owner: Owner


def folder() -> Path:
    """Return where the data lies: $PPDM_ADULT, or beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
    return Path(os.environ.get("PPDM_ADULT", beside))


def load() -> Adult:
    """Read Adult and release it."""
    owner = ppdm_sql.connect(":memory:")
    schema, table = _SOURCE.split(";", maxsplit=1)
    owner.execute(schema)
    owner.execute(table, {"file": str(folder() / "adult_32561.csv")})
    owner.execute(_RELEASE)
    original, released = (
        owner.sql(f"FROM {name} ORDER BY n").df().drop(columns="n")
        for name in ("census.adult", "research.adult")
    )
    return Adult(original, released, owner)
