"""Texts that miners print, with the released terms in them translated and all else left alone.

`age <= 2.67`, `2 < age <= 3`, `a=b, c=d => e=f`, the items of mlxtend's frozensets, the lines of
scikit-learn's `export_text` with one-hot columns (`diagnosis_Illness_3 <= 0.50`) and `class: …`.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from ppdm_sql.errors import StatementError
from ppdm_sql.interpret.predicates import LONGEST, Compare, Constant, number_of
from ppdm_sql.interpret.wording import shown, simple
from ppdm_sql.names import Name
from ppdm_sql.types import VARCHAR

if TYPE_CHECKING:
    from ppdm_sql.interpret.rewriting import Rewriter

# What was taken of a number is not given back: it is read once, however long it is.
_NUMBER = r"[-+]?+(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][-+]?\d++)?+"
_OPERATOR = r"<=|>=|<>|!=|==|=(?!>)|<|>"
_WORD = r"(?:(?!=>|->|\s(?i:and|or|then)\s)[^\n,;&|(){}\[\]'\"])+"
_FROZENSET = re.compile(r"\s*frozenset\(\{(?P<inside>.*)\}\)\s*", re.DOTALL)
_CLASS = re.compile(r"(?P<before>.*\bclass: )(?P<value>\S(?:.*\S)?)\s*")
_SPELLINGS = {"==": "=", "!=": "<>"}
_MIRRORED = {"<": ">", "<=": ">="}
_HALF = 0.5


@dataclass
class Items:
    """Translates texts of one release's results; what it could not is told in `notes`."""

    rewriter: Rewriter
    notes: dict[str, None] = field(default_factory=dict)

    def translate(self, text: str) -> str:
        """Return a text with every released term in it translated."""
        if len(text) > LONGEST:
            raise StatementError(
                f"a line or a cell of results has at most {LONGEST:,} characters",
                code="statement_too_large",
            )
        itemset = _FROZENSET.fullmatch(text)
        if itemset is not None:
            return self._frozenset(text, itemset["inside"])
        found = _CLASS.fullmatch(text)
        if found is not None and self.alias(found["value"]) is not None:
            return f"{found['before']}{self.alias(found['value'])}"
        # One pass: what was translated is not looked at again, it may look like an alias.
        return self._pattern.sub(self._term, text) if self._treated else text

    def item(self, text: str) -> str:
        """Return one item of a set: a condition, or an alias alone."""
        alone = self.alias(text)
        return self.translate(text) if alone is None else alone

    def alias(self, text: str) -> str | None:
        """Return the category of an alias that only one column has."""
        found = [value for name in self._texts if (value := self._original(name, text)) is not None]
        if len(found) > 1:
            self.notes[f"'{text}' is an alias of several columns: left as it is"] = None
        return found[0] if len(found) == 1 else None

    @cached_property
    def _treated(self) -> tuple[Name, ...]:
        rules = self.rewriter.release.released_rules
        names = (name for rule in rules for name in rule.names)
        return tuple(name for name in names if not self.rewriter.is_untreated(name))

    @cached_property
    def _texts(self) -> tuple[Name, ...]:
        """The columns whose released values are names with an original."""
        return tuple(
            name
            for rule in self.rewriter.release.released_rules
            for name, type_ in zip(rule.names, rule.output_types, strict=True)
            if type_ == VARCHAR
            and name in self._treated
            and all(step.treatment.inverts for step in rule.steps)
        )

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        one_hot = (
            rf"(?<![\w.])(?P<flag>{_choice(self._texts)})_(?P<alias>[^\s,;&|(){{}}\[\]'\"=<>]+)"
            rf"(?:\s*(?P<side><=|>)\s*(?P<half>{_NUMBER}))?"
        )
        condition = (
            rf"(?:(?<![\w.])(?P<low>{_NUMBER})(?P<below>\s*(?:<=|<)\s*))?"
            rf"(?<![\w.])(?P<column>{_choice(self._treated)})(?!\w)"
            rf"(?P<before>\s*)(?P<operator>{_OPERATOR})(?P<after>\s*)"
            rf"(?P<value>'(?:[^']|'')*'|\"[^\"]*\"|{_WORD})"
        )
        return re.compile(f"{one_hot}|{condition}")

    def _frozenset(self, text: str, inside: str) -> str:
        try:
            items = ast.literal_eval(f"[{inside}]")
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            return text
        listed = ", ".join(
            repr(self.item(item) if isinstance(item, str) else item) for item in items
        )
        return f"frozenset({{{listed}}})"

    def _term(self, match: re.Match[str]) -> str:
        return self._indicator(match) if match["flag"] else self._condition(match)

    def _condition(self, match: re.Match[str]) -> str:
        name = Name(match["column"])
        written = match["value"].rstrip()
        quote = written[0] if written[:1] in ("'", '"') else ""
        value = written[1:-1].replace("''", "'") if quote else written
        operator = _SPELLINGS.get(match["operator"], match["operator"])
        done = self._compared(name, operator, value)
        low = None
        if match["low"]:
            low = self._compared(name, _MIRRORED[match["below"].strip()], match["low"])
        if done is None or (match["low"] and low is None):
            return match[0]
        spaced = (match["before"], match["after"])
        text = _written(match["column"], done, spaced, quote)
        if low is not None:
            text = f"{_written(match['column'], low, spaced, quote)} and {text}"
        return text + match["value"][len(written) :]

    def _indicator(self, match: re.Match[str]) -> str:
        """Translate a one-hot column, alone or with the threshold that says whether it is set."""
        column, operator = match["flag"], match["side"]
        original = self._original(Name(column), match["alias"])
        if original is None or (operator and float(match["half"]) != _HALF):
            return match[0]
        if not operator:
            return f"{column}={original}"
        return f"{column} {'<>' if operator == '<=' else '='} {original}"

    def _compared(self, name: Name, operator: str, value: str) -> tuple[str, str] | str | None:
        """Return operator and value in original terms, or a whole condition; None and a note."""
        if operator == "<>":
            equal = self._original(name, value)
            if equal is not None:
                return operator, equal
        constant = _constant(value)
        done = self.rewriter.rewrite(Compare(name, operator, constant))
        self.notes |= dict.fromkeys(done.notes)
        if not done.is_complete:
            return None
        rule, index = self.rewriter.place(name)
        return simple(done.tree, rule.columns[index].name) or f"({shown(done.tree)})"

    def _original(self, name: Name, value: str) -> str | None:
        """Return the one original value that a released value stands for, if it is clear."""
        if name not in self._texts:
            return None
        done = self.rewriter.rewrite(Compare(name, "=", Constant(value, value)))
        rule, index = self.rewriter.place(name)
        pair = simple(done.tree, rule.columns[index].name) if done.is_complete else None
        return pair[1] if pair is not None and pair[0] == "=" else None


def _choice(names: tuple[Name, ...]) -> str:
    """Return a pattern of names, the longest first; without names, one that nothing matches."""
    longest_first = sorted((re.escape(name.text) for name in names), key=len, reverse=True)
    return "|".join(longest_first) or "(?!)"


def _constant(text: str) -> Constant:
    number = number_of(text.removeprefix("+")) if re.fullmatch(_NUMBER, text) else None
    return Constant(text if number is None else number, text)


def _written(column: str, done: tuple[str, str] | str, spaced: tuple[str, str], quote: str) -> str:
    if isinstance(done, str):
        return done
    operator, value = done[0], done[1].removesuffix("e0")  # SQL's mark of a DOUBLE
    if quote and not re.fullmatch(_NUMBER, value):
        value = quote + value.replace(quote, quote * 2) + quote
    return f"{column}{spaced[0]}{operator}{spaced[1]}{value}"
