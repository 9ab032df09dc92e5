"""IDENTIFIERs in what goes out: whole ones in a column, words of them inside a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from ppdm_sql.engine.sql import column_of
from ppdm_sql.errors import Refused, plural
from ppdm_sql.publish.snapshot import ROWS
from ppdm_sql.types import ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.names import Name
    from ppdm_sql.publish.snapshot import Snapshot

_HALF = 0.5
_SOME_ROWS, _FEW_ROWS = 5, 0.01
"""Rows from which it is said that names stand in a text, and their share."""
_OTHER_SCRIPTS = r"^[^\x00-\x{024F}]{2,}$"
_WORD = 4
"""Letters that a word has at least: shorter ones stand anywhere."""


def refuse_identifiers(snapshot: Snapshot) -> None:
    """Raise where a released column shows an IDENTIFIER in more than half of the rows."""
    shown = [
        name
        for rule in snapshot.version.release.released_rules
        # What becomes a name is no copy; noise leaves rows alone, and groups those outside WHEN.
        if not any(one.renames or one.is_always_null for one in rule.traits)
        for name in rule.names
    ]
    pairs = [(name, kept, called) for name in shown for kept, called in snapshot.identifiers]
    if not pairs:
        return
    counts: list[exp.Expr] = [
        exp.CountIf(this=_same(column_of(name.text, ROWS), column_of(kept, ROWS)))
        for name, kept, _ in pairs
    ]
    total, *same = snapshot.counts([exp.Count(this=exp.Star()), *counts])
    same = [
        max(count, _dealt_out(snapshot, name, kept, total))
        for (name, kept, _), count in zip(pairs, same, strict=True)
    ]
    for (name, _, called), count in zip(pairs, same, strict=True):
        if count > _HALF * total:
            raise Refused(
                f"'{name}' shows the IDENTIFIER '{called}' in more than half of the rows",
                hint="list it as IDENTIFIER, too, or treat it",
                code="shows_identifier",
            )


def identifiers_in_texts(snapshot: Snapshot) -> Iterator[str]:
    """Say where the words of an IDENTIFIER stand inside a longer text of the same row."""
    texts = [name for name, type_ in snapshot.columns if ColumnType(type_).kind is Kind.TEXT]
    pairs = [(name, kept, called) for name in texts for kept, called in snapshot.identifiers]
    if not pairs:
        return
    counts: list[exp.Expr] = []
    for name, kept, _ in pairs:
        counts += [
            exp.CountIf(this=one) for one in (_holds_all(name, kept), _holds_words(name, kept))
        ]
    total, *found = snapshot.counts([exp.Count(this=exp.Star()), *counts])
    for at, (name, _, called) in enumerate(pairs):
        whole, words = found[2 * at : 2 * at + 2]
        count = max(whole, words)
        # The whole of it is no chance; a word of it may be, as a town in an address.
        if whole or (words >= _SOME_ROWS and words > _FEW_ROWS * total):
            yield (
                f"{snapshot.version.entry.name}: '{name}' holds words of the IDENTIFIER '{called}' in"
                f" {_share(count, total)} of its rows; leave it out: no check finds all names in a text"
            )


def _share(count: int, total: int) -> str:
    return f"{count / total:.0%}" if count * 100 >= total else f"{plural(count, 'row')}"


def _spaced(value: exp.Expr, by: str = " ") -> exp.Expr:
    """Return the words of a text in small letters, one blank between them, or nothing."""
    return exp.func(
        "REGEXP_REPLACE",
        exp.func("LOWER", exp.cast(value, "VARCHAR")),
        *(exp.Literal.string(part) for part in (r"[^\p{L}\p{N}]+", by, "g")),
        dialect="duckdb",
    )


def _holds_all(name: str, kept: str) -> exp.Expr:
    """Whether a text holds the whole of an IDENTIFIER and more: of several words, or of other scripts.

    Chinese and Japanese write no blanks.
    """
    blank = exp.Literal.string(" ")
    text, whole = (_spaced(column_of(one, ROWS)) for one in (name, kept))
    padded = [
        exp.func("CONCAT", blank.copy(), exp.Trim(this=one), blank.copy(), dialect="duckdb")
        for one in (text, whole)
    ]
    is_several = exp.func("CONTAINS", exp.Trim(this=whole.copy()), blank.copy(), dialect="duckdb")
    plain, other = (_spaced(column_of(one, ROWS), "") for one in (name, kept))
    is_other = exp.RegexpLike(this=other.copy(), expression=exp.Literal.string(_OTHER_SCRIPTS))
    is_longer = exp.GT(this=exp.Length(this=plain.copy()), expression=exp.Length(this=other.copy()))
    return exp.and_(
        is_longer,
        exp.or_(
            exp.and_(is_several, exp.func("CONTAINS", *padded, dialect="duckdb")),
            exp.and_(is_other, exp.func("CONTAINS", plain.copy(), other.copy(), dialect="duckdb")),
        ),
    )


def _holds_words(name: str, kept: str) -> exp.Expr:
    """Whether a text is longer than a word of an IDENTIFIER and holds it, as a word."""
    spaced = [_spaced(column_of(one, ROWS)) for one in (name, kept)]
    blank = exp.Literal.string(" ")
    text = exp.func("CONCAT", blank, spaced[0], blank.copy(), dialect="duckdb")
    word = exp.to_identifier("w")
    whole = exp.func("CONCAT", blank.copy(), exp.column(word), blank.copy(), dialect="duckdb")
    is_word = exp.GTE(this=exp.Length(this=exp.column(word)), expression=exp.Literal.number(_WORD))
    stands = exp.and_(is_word, exp.func("CONTAINS", text.copy(), whole, dialect="duckdb"))
    words = exp.func("STRING_SPLIT", spaced[1], blank.copy(), dialect="duckdb")
    holds = exp.func(
        "LIST_BOOL_OR",
        exp.func(
            "LIST_TRANSFORM", words, exp.Lambda(this=stands, expressions=[word]), dialect="duckdb"
        ),
        dialect="duckdb",
    )
    is_longer = exp.GT(
        this=exp.Length(this=exp.Trim(this=text)),
        expression=exp.Add(
            this=exp.Length(this=spaced[1].copy()), expression=exp.Literal.number(_WORD)
        ),
    )
    return exp.and_(is_longer, holds)


def _dealt_out(snapshot: Snapshot, name: Name, kept: str, total: int) -> int:
    """Count the rows that show an IDENTIFIER of any row, where values are dealt out among rows."""
    rule = next(one for one in snapshot.version.release.released_rules if name in one.names)
    if not any(one.shows_some_originals for one in rule.traits):
        return 0
    (different,) = snapshot.counts(
        [exp.Count(this=exp.Distinct(expressions=[column_of(kept, ROWS)]))]
    )
    if different <= _HALF * total:  # a word that many share names nobody
        return 0
    all_of_them = exp.select(exp.cast(column_of(kept, ROWS), "VARCHAR")).from_(snapshot.rows())
    value = exp.cast(column_of(name.text, ROWS), "VARCHAR")
    (found,) = snapshot.counts([exp.CountIf(this=exp.In(this=value, query=all_of_them.subquery()))])
    return found


def _same(shown: exp.Expr, identifier: exp.Expr) -> exp.Expr:
    """Whether two values are written alike, or are one number: 7 and 7.0."""
    text = exp.cast(shown, "VARCHAR")
    double = exp.DataType.build("DOUBLE")
    numbers = (exp.TryCast(this=side.copy(), to=double.copy()) for side in (text, identifier))
    first, second = numbers
    return exp.or_(exp.EQ(this=text, expression=identifier), exp.EQ(this=first, expression=second))
