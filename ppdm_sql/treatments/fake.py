"""`fake('name', locale => 'de')`: a made-up name instead of each value, the same everywhere.

Words come from mimesis when the release is made, and are kept in the owner's store: another version
of mimesis changes nothing. Which words a value gets follows from a key, so that a person has the
same name in every table that is made with the same words.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.errors import TreatmentError, plural, suggest
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.arguments import ArgumentSpec
from ppdm_sql.treatments.expressions import as_text
from ppdm_sql.treatments.kernels.keyed_name import KEY_BYTES, TAG
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import Traits
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ppdm_sql.treatments.arguments import Arguments
    from ppdm_sql.treatments.protocol import InputColumn, Keys, Scope, Statistics

_ASKED = 20_000
"""How often mimesis is asked for a word: it has a few hundred or thousand different ones."""
_DIGITS = 13
"""Hexadecimal digits that choose a word: 52 bits, so that no word is more likely than another."""
_PARTS = {
    "name": ("{first}", " ", "{first}", " ", "{last}", "-", "{last}"),
    "company": ("{last}", " & ", "{last}", ", ", "{city}"),
    "address": ("{street}", " ", "{number}", ", ", "{city}"),
}
"""What each kind is put together from, in order: words in braces, and what stands between them."""
_INSTALL = "pip install 'ppdm-sql[fake]'"


def _what(given: Arguments, _: Sequence[InputColumn]) -> str:
    if "what" not in given:
        given.fail("what", "say of what", "write fake('name'), fake('company') or fake('address')")
    return given.choice("what", "name", _PARTS)


def _locale(given: Arguments, _: Sequence[InputColumn]) -> str:
    locale = given.text("locale", "en").lower()
    known = _locales()
    if locale not in known:
        given.fail(
            "locale", f"there are no words for '{locale}'", suggest(locale, known, "locales")
        )
    return locale


def _mimesis() -> Any:
    try:
        import mimesis
    except ImportError:
        raise TreatmentError(
            "fake needs the package mimesis", hint=_INSTALL, code="missing_package"
        ) from None
    return mimesis


def _locales() -> list[str]:
    return sorted(locale.value for locale in _mimesis().locales.Locale)


def _words(locale: str) -> dict[str, list[str]]:
    """Return the different words of a language, always in the same order."""
    mimesis = _mimesis()
    person, address = (provider(locale, seed=0) for provider in (mimesis.Person, mimesis.Address))
    asked: dict[str, Callable[[], str]] = {
        "first": person.first_name,
        "last": person.last_name,
        "street": address.street_name,
        "city": address.city,
    }
    words = {name: sorted({ask() for _ in range(_ASKED)}) for name, ask in asked.items()}
    return words | {"number": [str(number) for number in range(1, 200)]}


@dataclass(frozen=True, slots=True)
class Fake(Treatment):
    """Names for people who read tables; for joins, a pseudonym is as good."""

    keyword = "fake"
    summary = "a made-up name, company or address: equal values get equal ones"
    reading = "made up: equal ones are the same original, and nothing else is true of them"
    undone_by = "the owner's key; rows of one person stay linked; a made-up name may be somebody's"
    exactness = Exactness.LOOKUP
    traits = Traits(
        mixes_columns=False, has_secret_number=False, links_rows=True, renames=True,
        draws_from_keys=True,
    )  # fmt: skip
    kinds = (Kind.TEXT, Kind.INTEGER, Kind.UUID, Kind.ENUM)
    arguments = (ArgumentSpec("what", _what), ArgumentSpec("locale", _locale))
    releases = VARCHAR
    not_agreed = "sites may have other words"

    what: str
    locale: str = field(repr=False)

    @property
    def _names(self) -> list[str]:
        return [part[1:-1] for part in _PARTS[self.what] if part.startswith("{")]

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        """Derive the key; keep the words that analysts know."""
        key = keys.derive("fake", self.meets())[:KEY_BYTES]
        tables = previous.tables if previous is not None else self._tables()
        counts = {f"count_{name}": tables[name].num_rows for name in tables}
        return Drawn({"key": key.hex(), **counts}, tables)

    def _tables(self) -> dict[str, pa.Table]:
        words = _words(self.locale)
        return {
            name: pa.table({"original": pa.array(range(len(words[name]))), "released": words[name]})
            for name in dict.fromkeys(self._names)
        }

    def link(self) -> str:
        """Return whose the names are."""
        return f"{self.keyword}:{self.columns[0].whose}"

    def meets(self) -> str:
        """Return what must be the same for equal values to get equal names."""
        return "\0".join((self.link(), self.what, self.locale))

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        """Return words that digits of a keyed digest choose; NULL stays NULL."""
        message = exp.DPipe(
            this=exp.DPipe(this=scope.parameter("key"), expression=exp.Literal.string(TAG)),
            expression=as_text(inputs[0]),
        )
        digest = scope.let(exp.SHA2(this=message, length=exp.Literal.number(256)))
        found: exp.Expr | None = None
        place = 0
        for part in _PARTS[self.what]:
            text: exp.Expr = exp.Literal.string(part)
            if part.startswith("{"):
                text = scope.lookup(part[1:-1], _chosen(digest, place, part[1:-1], scope))
                place += 1
            found = text if found is None else exp.DPipe(this=found, expression=text)
        assert found is not None
        return (found,)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        """Count distinct values before and after."""
        return {
            "values": exp.Count(this=exp.Distinct(expressions=[inputs[0]])),
            "names": exp.Count(this=exp.Distinct(expressions=[outputs[0]])),
        }

    def verify(self, results: Statistics) -> Sequence[str]:
        """Raise when two values share a name."""
        lost = int(results["values"]) - int(results["names"])
        if lost > 0:
            raise TreatmentError(
                f"fake: {plural(lost, 'value')} of '{self.columns[0].name}' would share a name with another",
                hint="there are too many values for made-up names: write pseudonym()",
                code="names_collide",
            )
        return ()

    def note(self, drawn: Drawn) -> str:
        """Say which words were taken, without the words: two releases can be compared."""
        digest = hashlib.sha256()
        for name in sorted(drawn.tables):
            digest.update("\0".join(drawn.tables[name].column("released").to_pylist()).encode())
        return f"words {digest.hexdigest()[:8]}: equal where those of two releases are"


def _chosen(digest: exp.Expr, place: int, name: str, scope: Scope) -> exp.Expr:
    """Return the number of a word, by some digits of a digest."""
    start = 1 + place * _DIGITS
    digits = exp.Substring(
        this=digest.copy(),
        start=exp.Literal.number(start),
        length=exp.Literal.number(_DIGITS),
    )
    number = exp.cast(exp.DPipe(this=exp.Literal.string("0x"), expression=digits), "BIGINT")
    return exp.Mod(this=exp.paren(number), expression=scope.parameter(f"count_{name}"))
