"""Secrets that are easy to find again: odd numbers and words planted in data and definitions."""

from __future__ import annotations

import re
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner

# Arguments of treatments: what the owner wrote in the script of a release.
WORDS = ("Zyxwvish", "Qwerzish", "Vfbxqish")
NUMBERS = (
    "31.41592",  # the bands of weight; shown with more or fewer digits, these stay
    "62.83185",
    "94.24777",
    "27.18281",  # a translation
    "1.618033",  # a factor
    "57.72156",  # an angle
    "4.669201",  # a deviation
)
# Values of the data: raw, or the categories of a mapping.
PEOPLE = ("Xanthippe", "Ozymandias", "Nebuchadnezzar", "Melchisedek", "Thrasybulus")
ILLNESSES = ("Bubonic", "Scrofula", "Quinsy")
ALL = (*WORDS, *NUMBERS, *PEOPLE, *ILLNESSES)

TABLE = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.people (id BIGINT, name VARCHAR, weight DOUBLE, height DOUBLE, pulse DOUBLE,
                            income DOUBLE, age DOUBLE, illness VARCHAR, ward VARCHAR);
INSERT INTO clinic.people VALUES
    (1, 'Xanthippe', 40.5, 150, 60, 1000, 30, 'Bubonic', 'A'),
    (2, 'Ozymandias', 70.5, 160, 70, 2000, 40, 'Scrofula', 'B'),
    (3, 'Nebuchadnezzar', 90.5, 170, 80, 3000, 50, 'Quinsy', 'A'),
    (4, 'Melchisedek', NULL, 180, 90, 4000, 60, 'Bubonic', 'B'),
    (5, 'Thrasybulus', 50.5, 190, 99, 5000, 70, NULL, NULL);
"""
RELEASE = """
CREATE RELEASE research.people FROM clinic.people (
    id              KEY       AS pseudonym(prefix => 'Qwerzish', entity => 'Vfbxqish'),
    name            IDENTIFIER,
    weight          SENSITIVE AS graded_grouping(bands => [31.4159265, 62.8318531, 94.2477796]),
    (height, pulse) SENSITIVE AS rotation(degrees => 57.7215665),
    income          SENSITIVE AS translation(by => 27.1828183) THEN scaling(by => 1.61803399),
    age             SENSITIVE AS noise(normal(0, 4.66920161)),
    illness         SENSITIVE AS mapping(prefix => 'Zyxwvish'),
    ward            NEUTRAL
)
"""


def plant(owner: Owner) -> None:
    """Make the table and its release."""
    owner.execute(TABLE)
    owner.execute(RELEASE)


def secrets_of(owner: Owner) -> tuple[str, ...]:
    """Return every canary, and the keys that were drawn, as text could show them."""
    ((root,),) = owner.connection.execute("SELECT root_key FROM ppdm_owner.store").fetchall()
    keys = [root.hex(), root.hex().upper(), repr(root)[2:-1], str(list(root))[1:-1]]
    row = owner.connection.execute("FROM ppdm_owner.r1_v1_parameters").fetchall()[0]
    keys += [value for value in row if isinstance(value, str) and len(value) >= 32]
    keys += [str(abs(value)) for value in row if isinstance(value, int) and abs(value) > 10**12]
    assert len(keys) >= 7
    return (*ALL, *keys)


def found_in(text: str, canaries: tuple[str, ...] = ALL) -> list[str]:
    """Return the canaries that a text holds, whatever its case and thousands separators."""
    plain = text.casefold()
    packed = re.sub(r"[,_\s]", "", plain)
    return [
        canary for canary in canaries if canary.casefold() in plain or canary.casefold() in packed
    ]


def everything_shown(error: BaseException) -> str:
    """Return an error as Python, a log or a debugger would show it, without lines of source."""
    parts = [str(error), repr(error), *map(repr, error.args), *getattr(error, "__notes__", ())]
    parts += traceback.format_exception(error, limit=0)
    parts += [str(getattr(error, name, "")) for name in ("what", "hint", "engine_text")]
    return "\n".join(parts)
