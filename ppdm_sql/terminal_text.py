"""Texts that may come from others, shown so that they steer no terminal."""

from __future__ import annotations

import unicodedata

_SEPARATORS = ("Zl", "Zp")
"""Categories of letters that end a line in some programs."""


def harmless(text: str) -> str:
    """Return a text with everything written out that is not a letter to be seen, but new lines."""
    return "".join(letter if _is_shown(letter) else _escaped(letter) for letter in text)


def _is_shown(letter: str) -> bool:
    category = unicodedata.category(letter)
    return letter == "\n" or not (category.startswith("C") or category in _SEPARATORS)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode()
