"""GENERALIZE … [WHEN …] [UNTIL … [SUPPRESS [CELLS] AT MOST …]]: words to values.

Which targets exist is known here, because each has its own form; whether their numbers and
columns make sense is asked when the release is bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import suggest
from ppdm_sql.language.arguments import parse_number, parse_value
from ppdm_sql.language.hierarchy import refuse_body
from ppdm_sql.language.syntax import (
    ColumnName,
    Condition,
    GeneralizeClause,
    GeneralizedColumn,
    TargetClause,
)
from ppdm_sql.language.tokens import Shape

if TYPE_CHECKING:
    from ppdm_sql.language.cursor import Cursor

_FORMS = {
    "k": "k = 5",
    "l": "l(column) = 2",
    "entropy_l": "entropy_l(column) = 1.8",
    "recursive_l": "recursive_l(column, 3) = 2",
    "t": "t(column) <= 0.2",
    "alpha": "alpha(column) <= 0.5",
    "proximity": "proximity(column, 500) = 2",
    "kpqr": "kpqr(column, 3, 0.05, 0.5) = 5",
    "k_map": "k_map = 5 AGAINST register",
}
_WITHOUT_COLUMN = ("k", "k_map")
_NUMBERS = {
    "recursive_l": ("the number c",),
    "proximity": ("the distance",),
    "kpqr": ("p", "q", "r"),
}
"""What stands behind the column of a target, number by number."""
_HEAVIEST = 1000
_AT_MOST = frozenset({"t", "alpha"})
AFTER_TARGETS = ("SUPPRESS", "WITH")
"""What may follow the targets."""


def parse_generalize(cursor: Cursor) -> GeneralizeClause:
    """Take the whole clause."""
    start = cursor.expect("GENERALIZE")
    columns = [_column(cursor)]
    while cursor.take(","):
        columns.append(_column(cursor))
    when = None
    if cursor.take("WHEN"):
        when = Condition(*cursor.text_until(lambda: _at_until(cursor), "a condition after WHEN"))
    if when is None and (cursor.word.shape is Shape.END or cursor.at("WITH")):
        for column in columns:
            if column.levels is not None and column.levels[0] != column.levels[1]:
                cursor.fail(
                    f"'{column.column.name}' has two levels to choose from, and no UNTIL to choose by",
                    f"write LEVEL {column.levels[1]}, or UNTIL k = 5",
                    column.column.span,
                )
        if any(column.levels is not None for column in columns):
            return GeneralizeClause(tuple(columns), (), None, 0, cursor.span_from(start))
        cursor.fail(
            "GENERALIZE says neither how far nor until when",
            "write UNTIL k = 5, or a level to recode to: age USING ages LEVEL 2",
        )
    if not cursor.at("UNTIL"):
        cursor.fail(
            f"expected 'UNTIL' and a target, found {cursor.found()}",
            "write when to stop generalizing: UNTIL k = 5",
        )
    cursor.advance()
    targets = parse_targets(cursor)
    percent: int | float = 0
    cells = False
    if cursor.take("SUPPRESS"):
        cells = cursor.take("CELLS")
        percent = 100 if cells and not cursor.at("AT") else parse_percent(cursor)
    span = cursor.span_from(start)
    return GeneralizeClause(tuple(columns), targets, when, percent, span, cells)


def parse_targets(cursor: Cursor) -> tuple[TargetClause, ...]:
    """Take the targets behind UNTIL."""
    targets = [_target(cursor)]
    while cursor.take(","):
        targets.append(_target(cursor))
    return tuple(targets)


def _column(cursor: Cursor) -> GeneralizedColumn:
    column = ColumnName(*cursor.name("the name of a column"))
    return GeneralizedColumn(column, _using(cursor), _levels(cursor), _weight(cursor))


def _weight(cursor: Cursor) -> int | float:
    """Take WEIGHT n, if it is there."""
    if not cursor.take("WEIGHT"):
        return 1
    word = cursor.word
    weight = parse_number(cursor)
    if not 0 < weight <= _HEAVIEST:
        cursor.fail(
            f"a weight is above 0 and at most {_HEAVIEST}",
            "write WEIGHT 3 for a column that matters three times as much",
            word.span,
        )
    return weight


def _levels(cursor: Cursor) -> tuple[int, int] | None:
    """Take LEVEL n [TO m], if it is there."""
    if not cursor.take("LEVEL"):
        return None
    word = cursor.word
    low = parse_number(cursor)
    high = parse_number(cursor) if cursor.take("TO") else low
    if not (isinstance(low, int) and isinstance(high, int) and 0 <= low <= high):
        cursor.fail(
            "levels are whole numbers from 0 on, the lower one first",
            "write LEVEL 2, or LEVEL 1 TO 3",
            word.span,
        )
    return int(low), int(high)


def _using(cursor: Cursor) -> ColumnName | None:
    if not cursor.take("USING"):
        return None
    refuse_body(cursor)
    return ColumnName(*cursor.name("the name of a hierarchy"))


def _at_until(cursor: Cursor) -> bool:
    """Whether UNTIL and a target come next: `until` alone may be a column of the condition."""
    return (
        cursor.at("UNTIL")
        and cursor.peek(1).shape is Shape.WORD
        and cursor.peek(2).folded in ("=", "<", ">", "(")
    )


def _target(cursor: Cursor) -> TargetClause:
    start = cursor.word
    word = start.folded
    if start.shape is not Shape.WORD or word not in _FORMS:
        cursor.fail(
            f"expected a target, found {cursor.found()}", suggest(start.text, _FORMS, "targets")
        )
    cursor.advance()
    column, hierarchy = None, None
    numbers: list[int | float] = []
    values: tuple[int | float | str, ...] = ()
    if word not in _WITHOUT_COLUMN:
        if not cursor.take("("):
            cursor.fail(f"{start.text} needs a column", f"write {_FORMS[word]}", start.span)
        column = ColumnName(*cursor.name("the name of a column"))
        if word == "t":
            hierarchy = _using(cursor)
        if word == "alpha" and cursor.take("IN"):
            values = _chosen(cursor)
        for what in _NUMBERS.get(word, ()):
            cursor.expect(",", f"and {what} of {word}")
            numbers.append(parse_number(cursor))
        cursor.expect(")", f"of {start.text}")
    comparison = "<=" if word in _AT_MOST else "="
    # Symbols are words of one character; `k >= 5` is what `--require` calls the same.
    is_taken = cursor.take(*comparison) or (word not in _AT_MOST and cursor.take(">", "="))
    if not is_taken:
        cursor.fail(
            f"expected '{comparison}' after {start.text}, found {cursor.found()}",
            f"write {_FORMS[word]}",
        )
    value = parse_number(cursor)
    against = None
    if word == "k_map":
        cursor.expect("AGAINST", "and the table that has everybody")
        against = cursor.qualified_name("the name of a table")[0]
    return TargetClause(
        word,
        comparison,
        value,
        column,
        tuple(numbers),
        values,
        hierarchy,
        against,
        cursor.span_from(start),
    )


def _chosen(cursor: Cursor) -> tuple[int | float | str, ...]:
    """Take the values in parentheses behind IN."""
    cursor.expect("(", "and the values that alpha is about")
    values: list[int | float | str] = []
    while not values or cursor.take(","):
        value = parse_value(cursor)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            cursor.fail(
                "alpha is about texts, numbers and dates",
                "write alpha(column IN ('first', 'second')) <= 0.5",
                cursor.previous.span,
            )
        values.append(value)
    cursor.expect(")", "behind the values of alpha")
    return tuple(values)


def parse_percent(cursor: Cursor) -> int | float:
    """Take AT MOST n PERCENT, after SUPPRESS."""
    if not cursor.take("AT", "MOST"):
        cursor.fail(f"expected 'AT MOST', found {cursor.found()}", "write SUPPRESS AT MOST 5%")
    start = cursor.word
    value = parse_number(cursor)
    if not 0 <= value <= 100:
        cursor.fail("a percentage lies between 0 and 100", span=start.span)
    if not cursor.take("%"):
        cursor.expect("PERCENT")
    return value
