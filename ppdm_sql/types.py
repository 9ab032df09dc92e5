"""Column types, as far as treatments need to tell them apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The families of types a treatment accepts or refuses."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "floating point"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    UUID = "uuid"
    ENUM = "enum"
    OTHER = "other"


FITS_BIGINT = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
)
"""Integer types whose every value is a BIGINT too."""

_INTEGERS = frozenset(
    [
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
        "UHUGEINT",
    ]
)
_WORDS = {
    "FLOAT": Kind.FLOAT,
    "DOUBLE": Kind.FLOAT,
    "VARCHAR": Kind.TEXT,
    "BOOLEAN": Kind.BOOLEAN,
    "DATE": Kind.DATE,
    "UUID": Kind.UUID,
    "DECIMAL": Kind.DECIMAL,
    "ENUM": Kind.ENUM,
} | dict.fromkeys(_INTEGERS, Kind.INTEGER)
_WORD = re.compile(r"[A-Z_]+")
_DECIMAL = re.compile(r"DECIMAL\(\d+, ?(\d+)\)")


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A DuckDB type by its name, such as `DECIMAL(10,2)`."""

    text: str

    @property
    def kind(self) -> Kind:
        """The family of the type; a list, struct or anything unknown is OTHER."""
        if self.text.endswith("]"):
            return Kind.OTHER
        word = _WORD.match(self.text)
        if word is None:
            return Kind.OTHER
        if word[0].startswith("TIMESTAMP"):
            # With a time zone, its text and its days depend on who asks: cast it first.
            # One of nanoseconds would lose them on the way.
            return Kind.OTHER if "ZONE" in self.text or "_NS" in self.text else Kind.TIMESTAMP
        return _WORDS.get(word[0], Kind.OTHER)

    @property
    def decimals(self) -> int | None:
        """How many decimals its numbers are written with; None where the type does not say."""
        if self.kind is Kind.INTEGER:
            return 0
        found = _DECIMAL.fullmatch(self.text)
        return int(found[1]) if found else None

    def __str__(self) -> str:
        # The name of an ENUM lists its values, so it is never shown.
        return "ENUM" if "ENUM(" in self.text else self.text

    def __repr__(self) -> str:
        return f"ColumnType({str(self)!r})"


BIGINT = ColumnType("BIGINT")
DOUBLE = ColumnType("DOUBLE")
VARCHAR = ColumnType("VARCHAR")
