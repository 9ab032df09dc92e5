"""The codebook: what each column of a publication is, for whoever reads it.

A table where there can be a second one, text in the metadata of a Parquet file, and a page beside a
folder. It says nothing that rows, comments and `release_info` do not say, but for what the owner
discloses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import pyarrow as pa

from ppdm_sql.names import QualifiedName

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ppdm_sql.delivery.release_info import Info

CODEBOOK = QualifiedName.of("main", "codebook")
CODEBOOK_KEY = "ppdm:codebook"
"""Where a Parquet file has its lines, as JSON."""
_MARK = "<!-- codebook of ppdm-sql -->"
"""The first line of a page that may be replaced."""


class Line(TypedDict):
    """What the codebook says of one column."""

    release: str
    column_name: str
    role: str
    type: str
    treatment: str
    meaning: str
    missing: str
    """What NULL, and a star, mean."""
    shown: str | None
    """The values, if they are few; else from where to where they go."""
    disclosed: str | None
    """Parameters that the owner hands on."""


CODEBOOK_TYPES = pa.schema(dict.fromkeys(Line.__annotations__, pa.string()))
_OWN_WORDS = ("meaning", "missing")
_HEADER = (
    "column",
    "role",
    "type",
    "treatment",
    "what it is",
    "NULL and `*`",
    "values",
    "disclosed",
)


def page_beside(folder: Path) -> Path:
    """Return where the page of a folder stands."""
    return folder.with_name(f"{folder.name}.codebook.md")


def is_ours(page: Path) -> bool:
    """Whether a page is one that was written with a publication."""
    try:
        with page.open(encoding="utf-8") as text:
            return text.readline().strip() == _MARK
    except (OSError, UnicodeDecodeError):
        return False


def page_of(infos: Sequence[Info], lines: Sequence[Line]) -> str:
    """Return the codebook as Markdown."""
    return "\n".join([_MARK, "# Codebook", "", *_sections(infos, lines)])


def _sections(infos: Iterable[Info], lines: Sequence[Line]) -> Iterator[str]:
    for info in infos:
        yield f"## {_plain(info['release'])}"
        yield ""
        said = [f"Version {info['version']}", f"{info['rows']:,} rows"]
        said += [f"in every class: {info['targets']}"] if info["targets"] else []
        said.append(f"publication {info['publication']} of {info['published_at']:%Y-%m-%d} (UTC)")
        yield f"{_plain('; '.join(said))}."
        yield ""
        yield f"| {' | '.join(_HEADER)} |"
        yield "|---" * len(_HEADER) + "|"
        for line in lines:
            if line["release"] == info["release"]:
                cells = (
                    value if name in _OWN_WORDS else _plain(str(value or ""))
                    for name, value in line.items()
                    if name != "release"
                )
                yield f"| {' | '.join(map(str, cells))} |"
        yield ""


def _plain(text: str) -> str:
    """Return a text that is shown as it is in a table: data may hold any letters."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    for letter in "\\|<>[]`*_":
        shown = shown.replace(letter, f"\\{letter}" if letter != "\\" else "\\\\")
    return shown
