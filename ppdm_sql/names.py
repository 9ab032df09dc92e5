"""Names as values: how they compare, how they are quoted.

DuckDB keeps the case of an identifier and compares without regard to it, for ASCII letters only
(`É` and `é` are two columns; checked on 2.0.0). Quoting does not change that.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


RESERVED = "ppdm_"
"""What names of our own begin with, in every SELECT we write; nobody else's may."""
RESERVED_HINT = f"names that begin with '{RESERVED}' are reserved: give it another one"


@lru_cache(maxsize=1 << 14)
def fold(text: str) -> str:
    """Return the form under which DuckDB takes two identifiers for the same.

    Asked for again and again: of hundreds of columns, whenever one is looked up.
    """
    return text.translate(_FOLD)


def quote(text: str) -> str:
    """Return an identifier in double quotes."""
    return '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Name:
    """One identifier; equal to another when DuckDB takes them for the same."""

    text: str

    @property
    def folded(self) -> str:
        """The form that is compared."""
        return fold(self.text)

    @property
    def is_reserved(self) -> bool:
        """Whether it begins as names of our own do."""
        return self.folded.startswith(RESERVED)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self.folded == other.folded

    def __hash__(self) -> int:
        return hash(self.folded)

    def __str__(self) -> str:
        return self.text if _PLAIN.match(self.text) else quote(self.text)


@dataclass(frozen=True, slots=True)
class QualifiedName:
    """A table, view or release: its name and, where given, the schema and catalog before it."""

    parts: tuple[Name, ...]

    @classmethod
    def of(cls, *parts: str) -> QualifiedName:
        """Build one from plain texts."""
        return cls(tuple(Name(part) for part in parts))

    @property
    def name(self) -> Name:
        """The last part."""
        return self.parts[-1]

    @property
    def schema(self) -> Name | None:
        """The part before the last, if there is one."""
        return self.parts[-2] if len(self.parts) > 1 else None

    @property
    def catalog(self) -> Name | None:
        """The first of three parts, if there are three."""
        return self.parts[-3] if len(self.parts) > 2 else None

    def __str__(self) -> str:
        return ".".join(str(part) for part in self.parts)


STORE_CATALOG = Name("ppdm_store")
"""The name under which the owner's database is attached, whatever its file is called."""

OWNER_SCHEMA = Name("ppdm_owner")
"""Where the owner's store lives in it; nothing is released from there or into it."""


_THEN = " then "


def chain(words: Iterable[str]) -> str:
    """Return the words of treatments as people read them: `scaling then translation`."""
    return _THEN.join(words)


def unchained(text: str) -> tuple[str, ...]:
    """Return the words behind such a text; none behind an empty one."""
    return tuple(text.split(_THEN)) if text else ()
