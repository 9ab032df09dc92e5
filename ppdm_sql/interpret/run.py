"""INTERPRET RELEASE: the store's secrets and the source, handed to the room that translates."""

from __future__ import annotations

import ast
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import BindError, EngineError, Span
from ppdm_sql.groups.compile import (
    COMBINATIONS,
    IS_SUPPRESSED,
    SLOT,
    find_grouping,
    key_column,
    label_column,
)
from ppdm_sql.interpret.labels import Labels
from ppdm_sql.interpret.predicates import Reader
from ppdm_sql.interpret.rewriting import Images, Rewriter
from ppdm_sql.interpret.tables import translate_table
from ppdm_sql.interpret.wording import shown
from ppdm_sql.language.script import parse_name
from ppdm_sql.language.syntax import FileSource, InterpretTable, TableSource
from ppdm_sql.release.compile import rows_with, source_table
from ppdm_sql.release.key_scope import under_keys
from ppdm_sql.release.releases import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from ppdm_sql.language.syntax import InterpretPredicate
    from ppdm_sql.names import Name
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version

_ORIGINAL = "ppdm_original"
_TABLES = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True, slots=True)
class Interpreted:
    """A condition in original terms, as text. It is the owner's secret."""

    original: str = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    is_complete: bool
    """False where a part had to stay in released terms, under the name of the release."""

    def __str__(self) -> str:
        return self.original


@dataclass(frozen=True, slots=True)
class ResultsTable:
    """A table of results in original terms. It is the owner's secret."""

    table: pa.Table = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    sets: tuple[str, ...] = ()
    """Columns that came as sets of items."""

    def df(self) -> pd.DataFrame:
        """Return the table as a pandas frame, sets of items as sets again."""
        frame: pd.DataFrame = self.table.to_pandas()
        for name in self.sets:
            frame[name] = frame[name].map(_set_of, na_action="ignore").astype(object)
        return frame


def interpret_predicate(releases: Releases, statement: InterpretPredicate) -> Interpreted:
    """Translate a condition."""
    with _rewriter(releases, _wanted(statement)) as (rewriter, said):
        names = [name for rule in rewriter.release.released_rules for name in rule.names]
        reader = Reader(rewriter.release.name, names, statement.passes_others)
        text = statement.predicate
        span = statement.predicate_span or Span(text, 0, len(text))
        done = rewriter.rewrite(reader.read(span))
        return Interpreted(shown(done.tree), (*said, *done.notes), done.is_complete)


def interpret_table(releases: Releases, statement: InterpretTable) -> ResultsTable:
    """Translate a table of results that the owner's database has."""
    with _rewriter(releases, _wanted(statement)) as reading:
        rows = _read(releases, TableSource(statement.table, statement.table_span))
        return _translated(rows, reading)


def interpret_results(
    releases: Releases, wanted: Wanted, results: str | pa.Table | pd.DataFrame
) -> ResultsTable:
    """Translate a table of results by its name, or one that is at hand."""
    if isinstance(results, str):
        named = InterpretTable(
            wanted.name,
            parse_name(results, "the name of a table"),
            wanted.version,
            publication=wanted.publication,
        )
        return interpret_table(releases, named)
    rows, sets = (results, ()) if isinstance(results, pa.Table) else _from_frame(results)
    with _rewriter(releases, wanted) as reading:
        return _translated(rows, reading, sets)


def interpret_file(releases: Releases, wanted: Wanted, path: Path) -> ResultsTable:
    """Translate a CSV or Parquet file of results, or the lines of any other text."""
    with _rewriter(releases, wanted) as reading:
        if path.suffix.lower() in _TABLES:
            return _translated(_read(releases, FileSource(str(path))), reading)
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise BindError(f"'{path}' cannot be read as text", code="not_read") from None
        return _translated(pa.table({"text": pa.array(lines, pa.string())}), reading)


def _translated(
    rows: pa.Table, reading: tuple[Rewriter, tuple[str, ...]], sets: tuple[str, ...] = ()
) -> ResultsTable:
    rewriter, said = reading
    done = translate_table(rows, rewriter)
    return ResultsTable(done.table, (*said, *done.notes), sets)


def predicate_table(done: Interpreted) -> pa.Table:
    """Return a translated condition as a table."""
    notes = "; ".join(done.notes) or None
    return pa.table(
        {"original": pa.array([done.original]), "notes": pa.array([notes], pa.string())}
    )


def _from_frame(frame: pd.DataFrame) -> tuple[pa.Table, tuple[str, ...]]:
    """Return a frame as a table, sets of items as text, and which columns held sets."""
    sets = [
        str(name)
        for name in frame.columns
        if frame[name].dtype == object and frame[name].map(_is_set).any()
    ]
    texts = {name: frame[name].map(repr, na_action="ignore") for name in sets}
    return pa.Table.from_pandas(frame.assign(**texts), preserve_index=False), tuple(sets)


def _set_of(text: str) -> frozenset[object]:
    inside = text.removeprefix("frozenset({").removesuffix("})")
    return frozenset(ast.literal_eval(f"[{inside}]"))


def _is_set(value: object) -> bool:
    return isinstance(value, frozenset)


def _wanted(statement: InterpretPredicate | InterpretTable) -> Wanted:
    return Wanted(
        statement.name,
        statement.version,
        statement.span,
        statement.version_span,
        statement.publication,
    )


@contextmanager
def _rewriter(releases: Releases, wanted: Wanted) -> Iterator[tuple[Rewriter, tuple[str, ...]]]:
    """Give what translates results of a version, and what is to be said of the choice."""
    version, said = releases.open_wanted(wanted)
    with ExitStack() as stack:
        keyed = version
        if wanted.publication is not None:
            publication = releases.publication_of(wanted).publication
            keyed = stack.enter_context(under_keys(releases.keys, version, publication))
        yield Rewriter(version.release, version.parameters, _SourceValues(keyed)), said


def _read(releases: Releases, source: TableSource | FileSource) -> pa.Table:
    try:
        return releases.engine.query(exp.select("*").from_(source_table(source)))
    except EngineError as error:
        error.what = f"the results cannot be read: {error.what}"
        raise error.at(source.span) from None


def _quoted(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


class _SourceValues:
    """The released values as the source gives them now; each column is computed once."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self._images: dict[Name, Images] = {}
        self._labels: dict[Name, Labels | None] = {}

    def images(self, name: Name) -> Images:
        """Return the released numbers of a column with their originals."""
        if name not in self._images:
            released = _quoted(self._spelled(name))
            original = exp.cast(_quoted(_ORIGINAL), "DOUBLE")
            query = (
                exp.select(
                    exp.alias_(exp.cast(released, "DOUBLE"), "released"),
                    exp.alias_(exp.Min(this=original), "lowest"),
                    exp.alias_(exp.Max(this=original.copy()), "highest"),
                )
                .from_(self._pairs(name))
                .where(released.copy().is_(exp.null()).not_())
                .group_by(released.copy())
            )
            found = self._version.engine.query(query).sort_by("released")
            self._images[name] = Images(
                *(found.column(part).to_numpy() for part in ("released", "lowest", "highest"))
            )
        return self._images[name]

    def originals(self, name: Name, released: Sequence[str]) -> Mapping[str, object]:
        """Return the original values of released ones, as far as the source has them."""
        wanted = [text for text in released if text is not None]
        if not wanted:
            return {}
        column = _quoted(self._spelled(name))
        query = (
            exp.select(
                exp.alias_(column, "released"),
                exp.alias_(_quoted(_ORIGINAL), "original"),
            )
            .distinct()
            .from_(self._pairs(name))
            .where(exp.In(this=column.copy(), expressions=[exp.Placeholder() for _ in wanted]))
        )
        rows: list[dict[str, Any]] = self._version.engine.query(query, tuple(wanted)).to_pylist()
        return {str(row["released"]): row["original"] for row in rows}

    def labels(self, name: Name) -> Labels | None:
        """Return what GENERALIZE made of the values of a column, as this version keeps it."""
        if name not in self._labels:
            self._labels[name] = self._read_labels(name)
        return self._labels[name]

    def _read_labels(self, name: Name) -> Labels | None:
        grouping = find_grouping(self._version.release)
        columns = grouping.columns if grouping is not None else ()
        index = next((at for at, column in enumerate(columns) if column.name == name), None)
        if index is None:
            return None
        key, hidden = _quoted(key_column(index)), _quoted(IS_SUPPRESSED)
        query = (
            exp.select(
                exp.alias_(key, "value"),
                exp.alias_(exp.cast(key.copy(), "VARCHAR"), "text"),
                exp.alias_(_quoted(label_column(index)), "label"),
                exp.alias_(hidden, "hidden"),
            )
            .distinct()
            .from_(table_of(self._version.storage.lookup_table(SLOT, COMBINATIONS)))
        )
        try:
            found = self._version.engine.query(query).to_pylist()
        except (OverflowError, ValueError):  # a day that is in DuckDB's calendar, not in Python's
            return None
        shown = [(row["value"], row["text"], row["label"]) for row in found if not row["hidden"]]
        return Labels(tuple(shown), columns[index].column.type.kind, len(shown) < len(found))

    def _pairs(self, name: Name) -> exp.Subquery:
        """Return a column as it is released, beside its original."""
        rule = self._rule(name)
        original = rule.columns[rule.names.index(name)].name.text
        alone = replace(self._version, release=replace(self._version.release, rules=(rule,)))
        select = rows_with(alone, {_ORIGINAL: _quoted(original)})
        return select.subquery("pairs")

    def _spelled(self, name: Name) -> str:
        rule = self._rule(name)
        return rule.names[rule.names.index(name)].text

    def _rule(self, name: Name) -> BoundRule:
        rules = self._version.release.released_rules
        return next(rule for rule in rules if name in rule.names)
