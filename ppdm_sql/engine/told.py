"""What DuckDB says of names and grammar, as long as it quotes nothing but the statement.

Errors of the parser and the binder quote what they read. That is the statement, but where it runs
a text that is data (`query(getvariable('v'))`) or makes columns of data (`PIVOT`), it is a value.
"""

from __future__ import annotations

import re

from ppdm_sql.names import fold

_ENUM_VALUES = re.compile(r"ENUM\((?:[^()']|'(?:[^']|'')*')*\)")
_QUOTED = re.compile(r"\"((?:[^\"]|\"\")+)\"|'((?:[^']|'')+)'|with name (.+?) does not exist")
_OFFERED = re.compile(r"\s*(?:Candidate (?:bindings|functions|macros)|Did you mean)\b.*", re.DOTALL)
_SIGNATURE = re.compile(r"[^\w\s]{0,3}\w*\([A-Z0-9_, \[\]()]*\)")
_MADE_OF_DATA = re.compile(r"\b(?:pivot|query|query_table|getvariable|execute)\b", re.IGNORECASE)


def without_values(said: str, statement: str) -> str | None:
    """Return what DuckDB says without anything that could be a value; None if nothing is left.

    What is quoted must stand in the statement, or be the types of a call. Names that DuckDB offers
    instead are those of the catalog, unless the statement makes names of data.
    """
    said = _ENUM_VALUES.sub("ENUM", said)  # the name of its type lists its values
    offered = _OFFERED.search(said)
    if not statement:
        return said
    start = said[: offered.start()] if offered else said
    start = start.split("\n\nLINE ")[0]
    written = fold(statement)
    for found in _QUOTED.finditer(start):
        quoted = next(group for group in found.groups() if group is not None)
        name = fold(quoted.replace('""', '"').replace("''", "'"))
        if name not in written and not _SIGNATURE.fullmatch(quoted):
            return None
    if offered and _MADE_OF_DATA.search(statement):
        return start
    return said
