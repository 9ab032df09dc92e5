"""What an analyst is told when DuckDB cannot run a statement: fixed words, never DuckDB's own.

DuckDB's texts quote values ("Could not convert string '…'") and names that the analyst did not
write. The only word taken from them is one that stands in the analyst's own statement.
"""

from __future__ import annotations

import re

from ppdm_sql.errors import EngineError, Span
from ppdm_sql.names import fold

_WITH_WORD = (
    (r'Referenced column "([^"]+)"', "there is no column '{}' here"),
    (r'Referenced table "([^"]+)"', "there is no table or alias '{}' here"),
    (r'column "([^"]+)" must appear in the GROUP BY', "'{}' must be in GROUP BY or an aggregate"),
    (r'Ambiguous reference to column name "([^"]+)"', "it is not clear which column '{}' means"),
    (r"No function matches the given name and argument types '(\w+)\(", "'{}' takes other types"),
)
_KINDS = {
    "BinderException": "the names or types in this statement do not match",
    "CatalogException": "this statement names something that is missing",
    "ConversionException": "a value cannot be converted to the requested type",
    "OutOfRangeException": "a value is out of range",
    "InvalidInputException": "a function was given a value it cannot take",
    "OutOfMemoryException": "this statement needs more memory than the session may use",
    "NotImplementedException": "DuckDB cannot do this",
    "InterruptException": "the statement was stopped",
}
_HINTS = {"ConversionException": "TRY_CAST gives NULL where a value does not fit"}
_OTHER = "DuckDB could not run this statement"


def redacted(kind: str, message: str, text: str) -> EngineError:
    """Return an error of DuckDB, by the name of its class, in words that hold no data."""
    for pattern, words in _WITH_WORD:
        found = re.search(pattern, message)
        at = fold(text).find(fold(found[1])) if found else -1
        if found is not None and at >= 0:
            word = text[at : at + len(found[1])]
            return EngineError(words.format(word), Span(text, at, at + len(word)), code="engine")
    return EngineError(_KINDS.get(kind, _OTHER), hint=_HINTS.get(kind), code="engine")
