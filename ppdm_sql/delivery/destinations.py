"""Where a publication is written: a database file, or a folder of Parquet or CSV files.

All hold what was released and nothing else: they are new, so that no page of theirs ever held
anything of the owner's.
"""

from __future__ import annotations

import json
import secrets
from time import monotonic, sleep
from typing import TYPE_CHECKING, Self, TypeAlias
from urllib.parse import quote as percent_encode

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.delivery.codebook import (
    CODEBOOK,
    CODEBOOK_KEY,
    CODEBOOK_TYPES,
    page_beside,
    page_of,
)
from ppdm_sql.delivery.release_info import INFO, INFO_KEY, INFO_TYPES
from ppdm_sql.delivery.signature import sign
from ppdm_sql.delivery.workplace import digest_of, put_file, put_folder
from ppdm_sql.engine.duckdb_errors import OpenError
from ppdm_sql.engine.sql import create_schema, table_of
from ppdm_sql.errors import InternalError, Refused
from ppdm_sql.foreign.contents import OBJECTS, Contents, contents_of
from ppdm_sql.names import Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ppdm_sql.delivery.codebook import Line
    from ppdm_sql.delivery.release_info import Info
    from ppdm_sql.engine.duckdb import Engine

_PATIENCE_S = 30.0
_AGAIN_S = 0.02
_LONGEST_NAME = 240
"""Bytes; file systems take 255, and DuckDB writes under a longer name first."""


class DatabaseFile:
    """A DuckDB file: every release a table under its own name, every column with a comment."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self._engine = engine
        self._path = path
        # Anything may be attached under any name, and this one will not be met again.
        self._alias = Name(f"ppdm_publish_{secrets.token_hex(8)}")
        self._info = QualifiedName((self._alias, *INFO.parts))
        self._expected = {INFO}

    def __enter__(self) -> Self:
        self._engine.attach_new(self._path, self._alias)
        self._engine.create_table(self._info, INFO_TYPES.empty_table())
        return self

    def __exit__(self, *_: object) -> None:
        self._engine.detach(self._alias)

    def write(
        self,
        name: QualifiedName,
        rows: exp.Select,
        comments: Mapping[str, str],
        info: Info,
        lines: Sequence[Line] = (),
    ) -> exp.Expr:
        """Write a release as a table, a row of `release_info`, and its lines of the codebook."""
        schema, last = name.parts
        table = table_of(QualifiedName((self._alias, schema, last)))
        self._engine.run(create_schema(table))
        self._engine.run(exp.Create(this=table, kind="TABLE", expression=rows))
        for column, comment in comments.items():
            named = exp.column(
                exp.to_identifier(column, quoted=True),
                table=table.this.copy(),
                db=table.args["db"].copy(),
                catalog=table.args["catalog"].copy(),
            )
            self._engine.run(
                exp.Comment(this=named, kind="COLUMN", expression=exp.Literal.string(comment))
            )
        self._engine.insert(self._info, pa.Table.from_pylist([dict(info)], schema=INFO_TYPES))
        if lines:
            book = QualifiedName((self._alias, *CODEBOOK.parts))
            if CODEBOOK not in self._expected:
                self._engine.create_table(book, CODEBOOK_TYPES.empty_table())
                self._expected.add(CODEBOOK)
            self._engine.insert(
                book, pa.Table.from_pylist(list(map(dict, lines)), schema=CODEBOOK_TYPES)
            )
        self._expected.add(name)
        return table

    def complete(self, keys: Sequence[Ed25519PrivateKey] = ()) -> str | None:
        """Look at the file once more, and sign it; return its digest."""
        self._attach_again()
        try:
            listed = self._engine.query(OBJECTS, (self._alias.text,)).to_pylist()
        finally:
            self._engine.detach(self._alias)
        found = contents_of(tuple(row.values()) for row in listed)
        left = [path for path in self._path.parent.iterdir() if path != self._path]
        if found != Contents(frozenset(self._expected)) or left:
            raise InternalError("the written file failed its check")
        if keys:
            sign(self._path, keys)
        return digest_of(self._path)

    def _attach_again(self) -> None:
        """Attach the file once it is whole: a query of another thread may hold it for a while."""
        until = monotonic() + _PATIENCE_S
        while True:
            try:
                self._engine.attach(self._path, self._alias, read_only=True)
            except OpenError as error:
                if error.why != OpenError.HERE:
                    raise
                if monotonic() > until:
                    raise Refused(
                        "another cursor holds the file that was written",
                        hint="nothing was published; end its transaction and publish again",
                        code="open_here",
                    ) from None
                sleep(_AGAIN_S)
            else:
                return

    def put(self, target: Path) -> None:
        """Put the file in its place."""
        put_file(self._path, target)


class _Folder:
    """A folder of files, one for each release, with a page beside it that says what they are."""

    def __init__(self, engine: Engine, path: Path) -> None:
        self._engine = engine
        self._path = path
        self._infos: list[Info] = []
        self._lines: list[Line] = []

    def __enter__(self) -> Self:
        self._path.mkdir(mode=0o700)
        return self

    def __exit__(self, *_: object) -> None:
        """Every file is complete when it is written."""

    def _file(self, name: str) -> str:
        if len(name.encode()) > _LONGEST_NAME:
            raise Refused(
                "the name of this release is too long for the name of a file",
                hint="publish it to a DuckDB file, or give it a shorter name",
                code="bad_name",
            )
        return str(self._path / name)

    def _copy(self, rows: exp.Select, file: str, format_: str, *more: exp.CopyParameter) -> None:
        params = [exp.CopyParameter(this=exp.var("FORMAT"), expression=exp.var(format_)), *more]
        self._engine.run(
            exp.Copy(
                this=rows.subquery(), kind=False, files=[exp.Literal.string(file)], params=params
            )
        )

    def _note(self, info: Info, lines: Sequence[Line]) -> None:
        self._infos.append(info)
        self._lines += lines

    def complete(self, keys: Sequence[Ed25519PrivateKey] = ()) -> str | None:
        """Return the digest of all files; sites combine database files, so nothing is signed."""
        page_beside(self._path).write_text(page_of(self._infos, self._lines), encoding="utf-8")
        return digest_of(self._path)

    def put(self, target: Path) -> None:
        """Put the folder in its place, and its page beside it."""
        put_folder(self._path, target)
        put_file(page_beside(self._path), page_beside(target))


class ParquetFolder(_Folder):
    """Parquet files, with comments, `release_info` and the codebook in their metadata."""

    def write(
        self,
        name: QualifiedName,
        rows: exp.Select,
        comments: Mapping[str, str],
        info: Info,
        lines: Sequence[Line] = (),
    ) -> exp.Expr:
        """Write a release as `schema.name.parquet`."""
        file = self._file(parquet_name(name))
        said = {**info, "published_at": info["published_at"].isoformat(sep=" ")}
        metadata = {**comments, INFO_KEY: json.dumps(said, ensure_ascii=False)}
        if lines:
            metadata[CODEBOOK_KEY] = json.dumps(list(lines), ensure_ascii=False)
        notes = [
            exp.PropertyEQ(
                this=exp.to_identifier(key, quoted=True), expression=exp.Literal.string(text)
            )
            for key, text in metadata.items()
        ]
        kept = exp.CopyParameter(
            this=exp.var("KV_METADATA"), expression=exp.Struct(expressions=notes)
        )
        self._copy(rows, file, "parquet", kept)
        self._note(info, lines)
        return exp.func("read_parquet", exp.Literal.string(file), dialect="duckdb")


class CsvFolder(_Folder):
    """CSV files; `release_info.csv` and `codebook.csv` are files like the others.

    NULL is nothing between two commas, an empty text is "".
    """

    def write(
        self,
        name: QualifiedName,
        rows: exp.Select,
        comments: Mapping[str, str],
        info: Info,
        lines: Sequence[Line] = (),
    ) -> exp.Expr:
        """Write a release as `schema.name.csv`."""
        file = self._file(csv_name(name))
        header = exp.CopyParameter(this=exp.var("HEADER"), expression=exp.true())
        self._copy(rows, file, "csv", header)
        self._note(info, lines)
        types = [
            exp.PropertyEQ(
                this=exp.to_identifier(column, quoted=True), expression=exp.Literal.string(type_)
            )
            for column, type_ in self._engine.columns(rows)
        ]
        options: dict[str, exp.Expr] = {
            "header": exp.true(),
            "auto_detect": exp.false(),
            "delim": exp.Literal.string(","),
            "quote": exp.Literal.string('"'),
            "escape": exp.Literal.string('"'),
            "allow_quoted_nulls": exp.false(),
            "columns": exp.Struct(expressions=types),
        }
        arguments = [
            exp.PropertyEQ(this=exp.to_identifier(key), expression=value)
            for key, value in options.items()
        ]
        return exp.Anonymous(this="read_csv", expressions=[exp.Literal.string(file), *arguments])

    def complete(self, keys: Sequence[Ed25519PrivateKey] = ()) -> str | None:
        """Write what lists the files, and return the digest of all."""
        tables = {
            INFO: pa.Table.from_pylist(list(map(dict, self._infos)), schema=INFO_TYPES),
            CODEBOOK: pa.Table.from_pylist(list(map(dict, self._lines)), schema=CODEBOOK_TYPES),
        }
        header = exp.CopyParameter(this=exp.var("HEADER"), expression=exp.true())
        for name, table in tables.items():
            with self._engine.lend(table) as lent:
                rows = exp.select("*").from_(table_of(lent))
                self._copy(rows, self._file(f"{name.name}.csv"), "csv", header)
        return super().complete(keys)


Destination: TypeAlias = DatabaseFile | ParquetFolder | CsvFolder
"""Takes releases one by one, all of them in one transaction of the owner's engine."""


def parquet_name(name: QualifiedName) -> str:
    """Return the file of a release; letters that mean something in a path are written as %2F."""
    return _encoded(name) + ".parquet"


def csv_name(name: QualifiedName) -> str:
    """Return the CSV file of a release."""
    return _encoded(name) + ".csv"


def _encoded(name: QualifiedName) -> str:
    parts = (percent_encode(part.text, safe=" ").replace(".", "%2E") for part in name.parts)
    return ".".join(parts)
