"""How a publication is written: what the path says, and what stands behind WITH."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, suggest
from ppdm_sql.release.acceptance import OPTION as ACCEPT
from ppdm_sql.release.key_scope import publication_scope, recipient_scope
from ppdm_sql.release.options import unknown_option

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import PublishRelease

DUCKDB, PARQUET, CSV = "duckdb", "parquet", "csv"
DISCLOSE = "disclose"
"""The option that hands parameters on, in the codebook."""
_ENDINGS = {DUCKDB: (".duckdb", ".db", ".ddb"), PARQUET: ("/", ".parquet"), CSV: ("/",)}
_OTHER_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".arrow", ".feather", ".sqlite")
_CALLED = {DUCKDB: "DuckDB file", PARQUET: "folder of Parquet files", CSV: "folder of CSV files"}
ALWAYS, RECIPIENT, PUBLICATION = "always", "recipient", "publication"
LINKABLE = (RECIPIENT, PUBLICATION, ALWAYS)
"""Where pseudonyms meet: in everything that is published, in what one recipient gets, or in one
publication."""
_OPTIONS: dict[str, tuple[type, str]] = {
    "unlinkable": (bool, "true or false"),
    "linkable": (str, "'recipient', 'publication' or 'always'"),
    "strict": (bool, "true or false"),
    "recipient": (str, "a text"),
    ACCEPT: (tuple, "a list of codes"),
    DISCLOSE: (tuple, "a list such as ['noise(weight)']"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """What WITH says of a publication."""

    linkable: str = ALWAYS
    is_strict: bool = False
    recipient: str | None = None

    def key_scope(self, publication: str) -> str | None:
        """Return whose pseudonyms a publication has; None: those of the store."""
        if self.linkable == PUBLICATION:
            return publication_scope(publication)
        if self.linkable == RECIPIENT and self.recipient is not None:
            return recipient_scope(self.recipient)
        return None


def format_of(statement: PublishRelease) -> str:
    """Return the format: the path says it, and FORMAT, if it is written, must say the same."""
    written, path = statement.format, statement.path
    if written is not None and written not in _ENDINGS:
        raise BindError(
            f"unknown format '{written}'",
            statement.format_span,
            suggest(written, _ENDINGS, "formats"),
            code="unknown_format",
        )
    ending = "/" if path.endswith("/") else PurePath(path).suffix.lower()
    by_path = [one for one, endings in _ENDINGS.items() if ending in endings]
    if ending in _OTHER_ENDINGS or (written and by_path and written not in by_path):
        what = f"'{path}' is no name for a {_CALLED[written or DUCKDB]}"
        raise BindError(
            what,
            statement.path_span,
            "write TO 'study.duckdb' for a DuckDB file, TO 'study/' for a folder of Parquet files,"
            " TO 'study/' (FORMAT csv) for one of CSV files",
            code="format_and_path",
        )
    return written or next(iter(by_path), DUCKDB)


def options_of(statement: PublishRelease, linkable: str = ALWAYS) -> Options:
    """Return every option, given or by default; fail on any that does not exist."""
    given: dict[str, object] = {}
    spans: dict[str, Span | None] = {}
    for option in statement.options:
        if option.name not in _OPTIONS:
            raise unknown_option(option, _OPTIONS)
        kind, said = _OPTIONS[option.name]
        is_word = option.name != "linkable" or option.value in LINKABLE
        if not isinstance(option.value, kind) or option.value == "" or not is_word:
            raise BindError(
                f"option '{option.name}' must be {said}", option.span, code="bad_option"
            )
        given[option.name], spans[option.name] = option.value, option.span
    if given.get("unlinkable") and "linkable" in given:
        raise BindError(
            "unlinkable = true is linkable = 'publication'",
            spans["linkable"],
            "write one of the two",
            code="bad_option",
        )
    linkable = str(given.get("linkable", linkable))
    if given.get("unlinkable"):
        linkable = PUBLICATION
    recipient = given.get("recipient")
    if linkable == RECIPIENT and recipient is None:
        raise BindError(
            "the recipient is missing: each recipient gets pseudonyms of its own",
            spans.get("linkable") or statement.span,
            "write WITH (recipient = 'uni-north'), or linkable = 'publication' or 'always'",
            code="no_recipient",
        )
    return Options(
        linkable, bool(given.get("strict")), str(recipient) if recipient is not None else None
    )
