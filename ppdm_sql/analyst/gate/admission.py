"""One statement in, the text to run out, or an error in fixed words."""

from __future__ import annotations

import copy
import difflib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ppdm_sql.analyst.gate.functions import FUNCTIONS, TABLE_FUNCTIONS
from ppdm_sql.analyst.gate.nodes import CALLED, EXPRESSIONS, FIELDS, NODES, READ_AS_FUNCTIONS
from ppdm_sql.errors import Refused, Span, StatementError, suggest
from ppdm_sql.names import Name, QualifiedName, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 100_000
"""Letters of a statement: more only serve to keep a parser busy."""

_MAIN = Name("main")
_NAME = re.compile(r"[^./\\:*?\[\]]+")
"""A name that cannot be one of a file."""
_ALLOWED = "an analyst may run one SELECT, DESCRIBE, SUMMARIZE or SHOW TABLES"
_SHOWN = frozenset({"DESCRIBE", "SUMMARY", "SHOW"})
_LISTINGS = frozenset({'"tables"', "__show_tables_expanded"})
_LISTING = """SELECT * FROM (VALUES ('schema', 'name')) AS "tables" ("schema", "name")"""


class Parser(Protocol):
    """What the gate asks of DuckDB."""

    def serialize(self, text: str) -> str:
        """Return `json_serialize_sql` of a text."""
        ...

    def deserialize(self, tree: str) -> str:
        """Return `json_deserialize_sql` of a tree."""
        ...


@dataclass(frozen=True, slots=True)
class Surface:
    """What an analyst may read."""

    catalog: Name
    tables: frozenset[QualifiedName]
    """Schema and name of each."""
    reserved: frozenset[Name] = frozenset()
    """Views that DuckDB itself has: their names are not given to anything else."""

    def covers(self, path: tuple[str, ...]) -> bool:
        """Whether a name of one to three parts can only mean one of the tables."""
        parts = QualifiedName.of(*path).parts
        if len(parts) == 3 and parts[0] == self.catalog:
            return QualifiedName(parts[1:]) in self.tables
        if len(parts) == 2 and parts[0] == self.catalog:
            return QualifiedName((_MAIN, parts[1])) in self.tables
        if len(parts) == 1:
            return QualifiedName((_MAIN, parts[0])) in self.tables
        return len(parts) == 2 and QualifiedName(parts) in self.tables


def admit(text: str, parser: Parser, surface: Surface) -> str:
    """Return the text to run for a statement; raise in fixed words when it may not run."""
    if len(text) > LONGEST:
        raise Refused(
            f"a statement may have at most {LONGEST:,} characters", code="statement_too_large"
        )
    if "\0" in text:
        raise StatementError(
            "a statement may not contain a null byte", code="not_text"
        )  # DuckDB would stop reading there
    tree = _parse(text, parser)
    if _is_listing(tree):
        tree = _listing(parser, surface)
    else:
        _Check(text, surface).run(tree)
    canonical = parser.deserialize(json.dumps(tree))
    # What runs is what was checked: the written text is read and checked as well.
    _Check(canonical, surface).run(_parse(canonical, parser))
    return canonical


def _parse(text: str, parser: Parser) -> dict[str, Any]:
    try:
        tree: dict[str, Any] = json.loads(parser.serialize(text))
    except RecursionError:
        raise Refused("the statement is nested too deep", code="statement_too_large") from None
    if tree["error"]:
        if tree.get("error_type") == "parser":
            place = str(tree.get("position", ""))
            span = _span(text, int(place), 1) if place.isdecimal() else None
            raise StatementError(
                "DuckDB cannot read this statement: syntax error", span, code="syntax"
            )
        raise Refused("this statement may not be run", hint=_ALLOWED, code="not_admitted")
    if len(tree["statements"]) != 1:
        raise Refused(
            "only one statement may be run at a time", hint=_ALLOWED, code="one_statement"
        )
    return tree


def _is_listing(tree: dict[str, Any]) -> bool:
    """Whether a statement is SHOW TABLES or SHOW ALL TABLES and nothing else."""
    shown = tree["statements"][0]["node"].get("from_table") or {}
    return (
        shown.get("type") == "SHOW_REF"
        and shown.get("table_name") in _LISTINGS
        and (shown.get("show_type") == "SHOW_SPECIAL")
    )


def _listing(parser: Parser, surface: Surface) -> dict[str, Any]:
    """Return a statement that lists the tables; the catalog itself is not asked."""
    tree = _parse(_LISTING, parser)
    rows = next(part["values"] for part in _parts(tree) if part.get("type") == "EXPRESSION_LIST")
    (example,) = rows
    rows.clear()
    for table in sorted(surface.tables, key=str):
        row = copy.deepcopy(example)
        for cell, part in zip(row, table.parts, strict=True):
            cell["literal"]["text"] = part.text
        rows.append(row)
    return tree


def _parts(tree: object) -> Iterator[dict[str, Any]]:
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part


class _Check:
    """Walks a parse from the top; every part must be listed."""

    def __init__(self, text: str, surface: Surface) -> None:
        self._text = text
        self._surface = surface

    def run(self, tree: dict[str, Any]) -> None:
        # Without recursion: how deep a statement is nested is the analyst's choice.
        waiting: list[tuple[object, frozenset[Name]]] = [(tree["statements"], frozenset())]
        while waiting:
            part, ctes = waiting.pop()
            if isinstance(part, list):
                waiting += ((child, ctes) for child in part)
            elif isinstance(part, dict):
                self._part(part, ctes)
                self._check_ctes(part)
                named, inside = _with_ctes(part, ctes)
                waiting += named
                if part.get("type") == "RECURSIVE_CTE_NODE":
                    # Where it begins it does not know itself: there the name is a table's.
                    again = inside | {Name(part["cte_name"])}
                    waiting += (
                        (child, inside if child is part["left"] else again)
                        for child in _children(part)
                    )
                else:
                    waiting += ((child, inside) for child in _children(part))

    def _check_ctes(self, part: dict[str, Any]) -> None:
        """Refuse names that DuckDB would read elsewhere if it did not see the CTE: a second wall."""
        for entry in _ctes_of(part):
            name = entry["key"]
            if Name(name) in self._surface.reserved or not _NAME.fullmatch(name):
                self._refuse(f"WITH may not give the name '{name}'", part, "take another name")

    def _part(self, part: dict[str, Any], ctes: frozenset[Name]) -> None:
        kind = part.get("class", part.get("type"))
        # Else it is a part of a part, such as the two sides of a WHEN or the type of a value.
        if isinstance(kind, str) and kind not in (EXPRESSIONS if "class" in part else NODES):
            called = CALLED.get(kind, "a part of this statement")
            self._refuse(f"{called} may not be used here", part, _ALLOWED)
        if not part.keys() <= FIELDS:
            self._refuse("a part of this statement may not be used here", part, _ALLOWED)
        if "class" in part and kind in ("FUNCTION", "WINDOW"):
            self._function(part, FUNCTIONS)
        elif kind == "COLUMN_REF":
            self._column(part)
        elif kind == "TYPE":
            self._plain_name(part, part["type_name"])
        elif kind == "BASE_TABLE":
            self._table(part, ctes)
        elif kind == "TABLE_FUNCTION":
            self._table_function(part["function"])
        elif kind == "SHOW_REF" and (part["query"] is None or part["show_type"] not in _SHOWN):
            self._refuse("this may not be shown", part, _ALLOWED)
        elif kind == "PIVOT" and any(pivot.get("pivot_enum") for pivot in part["pivots"]):
            self._refuse("PIVOT may only name its values", part)

    def _function(self, part: dict[str, Any], allowed: frozenset[str]) -> None:
        name = part["function_name"]
        if fold(name) not in allowed:
            near = difflib.get_close_matches(fold(name), allowed, n=1, cutoff=0.75)
            hint = f"did you mean '{near[0]}'?" if near else None
            self._refuse(f"the function '{name}' may not be used here", part, hint)
        self._plain_name(part, name)
        if part.get("export_state"):
            self._refuse("EXPORT_STATE may not be used here", part)

    def _column(self, part: dict[str, Any]) -> None:
        """Refuse a function that is written like a column: what it tells is not of the file."""
        (name, *more) = part["column_names"]
        if not more and fold(name) in READ_AS_FUNCTIONS:
            hint = f"for a column of that name, write its table before it: t.{name}"
            self._refuse(f"the function '{name}' may not be used here", part, hint)

    def _table_function(self, part: dict[str, Any]) -> None:
        if part.get("class") != "FUNCTION" or not part.keys() <= FIELDS:
            self._refuse("this may not be used after FROM", part)
        self._function(part, TABLE_FUNCTIONS)

    def _plain_name(self, part: dict[str, Any], name: str) -> None:
        path = part.get("qualified_name", {"path": [name]})["path"]
        if (
            part.get("schema")
            or part.get("catalog")
            or [fold(word) for word in path] != [fold(name)]
        ):
            self._refuse(f"'{name}' is written without a schema", part)

    def _table(self, part: dict[str, Any], ctes: frozenset[Name]) -> None:
        path = tuple(part["qualified_name"]["path"])
        written = tuple(
            word for word in (part["catalog_name"], part["schema_name"], part["table_name"]) if word
        )
        if path != written or part["at_clause"] is not None:
            self._refuse("a table may not be named like this", part)
        if len(path) == 1 and Name(path[0]) in ctes:
            return
        if not self._surface.covers(path):
            known = (str(table) for table in self._surface.tables)
            called = ".".join(path)
            self._refuse(f"there is no table '{called}'", part, suggest(called, known, "tables"))

    def _refuse(self, what: str, part: dict[str, Any], hint: str | None = None) -> NoReturn:
        place = part.get("query_location", -1)
        raise Refused(
            what,
            _span(self._text, place, part.get("query_location_length", 1)),
            hint,
            code="not_admitted",
        )


def _children(part: dict[str, Any]) -> Iterator[object]:
    for field, child in part.items():
        if field == "function":  # behind FROM: checked with it, by a list of its own
            yield from child.values()
        elif field != "cte_map":
            yield child


def _with_ctes(
    part: dict[str, Any], ctes: frozenset[Name]
) -> tuple[list[tuple[object, frozenset[Name]]], frozenset[Name]]:
    """Return the CTEs of a query, each with the names it sees, and the names the query sees."""
    found: list[tuple[object, frozenset[Name]]] = []
    for entry in _ctes_of(part):
        found.append((entry["value"], ctes))
        ctes = ctes | {Name(entry["key"])}
    return found, ctes


def _ctes_of(part: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (part.get("cte_map") or {"map": []})["map"]
    return found


def _span(text: str, place: int, length: int) -> Span | None:
    """Return a place of DuckDB's, which counts bytes; None where it has none."""
    raw = text.encode()
    if not 0 <= place < len(raw):
        return None
    start = len(raw[:place].decode(errors="ignore"))
    end = len(raw[: place + max(length, 1)].decode(errors="ignore"))
    return Span(text, start, max(end, start + 1))
