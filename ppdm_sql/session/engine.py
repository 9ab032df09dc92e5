"""The only module that imports DuckDB: connect, run, read schemas, register functions."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import warnings
import weakref
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import duckdb.func
from sqlglot import exp

from ppdm_sql.compile.render import table_of, to_sql
from ppdm_sql.errors import EngineError, StoreError
from ppdm_sql.kernels.calling import guarded
from ppdm_sql.names import STORE_CATALOG, Name, QualifiedName
from ppdm_sql.store import folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from ppdm_sql.model.transform import Kernel, Transform

# Errors about names and grammar: their texts quote the statement, not the data. The texts of all
# other errors (conversion, constraint, out of range, …) may hold values and are withheld.
_SPEAKING = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.TransactionException,
    duckdb.PermissionException,
    duckdb.NotImplementedException,
    duckdb.InterruptException,
)
_READ_ONLY = exp.AttachOption(this=exp.var("READ_ONLY"))
_HOLDER = re.compile(r"held in (?P<program>.+?) \(PID (?P<pid>\d+)\)(?: by user (?P<user>\S+))?")
_WRITES = re.compile(r"\b(?:insert|update|delete|merge|copy)\b", re.IGNORECASE)
_ENUM_VALUES = re.compile(r"ENUM\((?:[^()']|'(?:[^']|'')*')*\)")


_LOOKED_AT = Name("looked_at")
_OBJECTS = (
    "SELECT 'table', schema_name, table_name FROM duckdb_tables() WHERE database_name = $database"
    " UNION ALL SELECT 'view', schema_name, view_name FROM duckdb_views()"
    " WHERE database_name = $database AND NOT internal"
    " UNION ALL SELECT 'macro', schema_name, function_name FROM duckdb_functions()"
    " WHERE database_name = $database AND NOT internal"
    " UNION ALL SELECT 'sequence', schema_name, sequence_name FROM duckdb_sequences()"
    " WHERE database_name = $database"
    " UNION ALL SELECT 'type', schema_name, type_name FROM duckdb_types()"
    " WHERE database_name = $database AND NOT internal"
    " UNION ALL SELECT 'index', schema_name, index_name FROM duckdb_indexes()"
    " WHERE database_name = $database"
    " UNION ALL SELECT 'trigger', schema_name, trigger_name FROM duckdb_triggers()"
    " WHERE database_name = $database"
    " UNION ALL SELECT 'generated column', schema_name, table_name FROM duckdb_columns()"
    " WHERE database_name = $database AND is_generated"
)


class Engine:
    """One connection to the owner's database."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self._at_end = ExitStack()
        # Also where nobody closes it: the stack does not know the engine.
        weakref.finalize(connection, self._at_end.close)

    @classmethod
    def open(cls, database: Path | None) -> Engine:
        """Open a database file in its safe, or one in memory for a trial."""
        connection = duckdb.connect(":memory:")
        # Without this, a name in SQL could be a Python variable of our own frames.
        connection.execute("SET python_enable_replacements = false")
        # Progress is polled by whoever shows it; nothing is printed from here.
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        engine = cls(connection)
        try:
            engine._attach_store(database)
        except BaseException:
            engine.close()
            raise
        return engine

    def _attach_store(self, database: Path | None) -> None:
        if database is not None:
            folder.prepare(database)
            self._lock(database)
            spill = str(folder.spill_folder(database))
        else:
            # DuckDB's own choice is a folder that everybody enters, where the process stands.
            spill = tempfile.mkdtemp(prefix="ppdm-spill-")  # with mode 0700
            self._at_end.callback(shutil.rmtree, spill, ignore_errors=True)
        self.connection.execute(to_sql(_set("temp_directory", exp.Literal.string(spill))))
        try:
            if database is not None:
                folder.make_whole(database, self._make)
            self.connection.execute(to_sql(_attach(database or ":memory:", STORE_CATALOG)))
        except duckdb.Error as error:
            raise _open_error(database, error) from None
        if database is not None:
            folder.secure(database)
        self.connection.execute(to_sql(exp.Use(this=table_of(QualifiedName((STORE_CATALOG,))))))

    def _lock(self, database: Path) -> None:
        try:
            handle = folder.lock(database)
        except OSError as error:
            raise StoreError(f"'{database}' cannot be locked: {error.strerror}") from None
        if handle is not None:
            self._at_end.callback(folder.unlock, handle)
            return
        try:
            # DuckDB's error names who holds it. For reading: should DuckDB find no lock of its own,
            # nothing is written.
            self.connection.execute(to_sql(_attach(database, STORE_CATALOG, _READ_ONLY)))
        except duckdb.Error as error:
            raise _open_error(database, error, is_locked=True) from None
        raise _in_use(database)

    def _make(self, database: Path) -> None:
        self.connection.execute(to_sql(_attach(database, STORE_CATALOG)))
        self.connection.execute(to_sql(_detach(STORE_CATALOG)))

    def interrupt(self) -> None:
        """Stop the running statement; may be called from another thread."""
        self.connection.interrupt()

    def close(self) -> None:
        """Close the connection; the file may then be opened by another process."""
        self.connection.close()
        self._at_end.close()

    def query(self, statement: str | exp.Expr, parameters: tuple[Any, ...] = ()) -> pa.Table:
        """Run one statement of ours and return its rows."""
        text = statement if isinstance(statement, str) else to_sql(statement)
        with self._ready():
            relation = self.connection.sql(text, params=list(parameters) or None)
            return relation.to_arrow_table()

    def run(self, statement: str | exp.Expr, parameters: tuple[Any, ...] = ()) -> None:
        """Run one statement of ours to its end."""
        text = statement if isinstance(statement, str) else to_sql(statement)
        with self._ready():
            # Execution streams: an error can come at fetch, so fetch before anything is committed.
            self.connection.execute(text, list(parameters)).fetchall()

    def create_table(self, name: QualifiedName, data: pa.Table) -> None:
        """Write a table in bulk, in place of one of that name."""
        with self.lend(data) as incoming:
            rows = exp.select("*").from_(table_of(incoming))
            self.run(exp.Create(this=table_of(name), kind="TABLE", expression=rows, replace=True))

    @contextmanager
    def lend(self, data: pa.Table) -> Iterator[QualifiedName]:
        """Let statements of a block read a table that is in memory and stays there."""
        # A name of its own each time: the owner may have anything called anything.
        name = f"ppdm_incoming_{secrets.token_hex(8)}"
        with self._ready():
            self.connection.register(name, data)
        try:
            yield QualifiedName.of("temp", "main", name)
        finally:
            with suppress(duckdb.Error):  # in an aborted transaction it is gone already
                self.connection.unregister(name)

    def plain(self, text: str, parameters: object = None) -> Any:
        """Run a statement of the owner's own; return what its rows are read from, or None.

        A query's rows wait on the connection. Anything with an effect is run to its end here,
        because an error of a streamed statement comes when it is read.
        """
        with self._ready():
            (statement,) = self.connection.extract_statements(text)
            expected = statement.expected_result_type
            rows = self.connection.execute(statement, parameters)
            if expected == [duckdb.ExpectedResultType.QUERY_RESULT]:
                # A CTE may write: such a statement is read to its end, too.
                return _arrow(rows) if _WRITES.search(text) else rows
            table = _arrow(rows) if rows.description else None
            if table is None or table.column_names == ["Count"]:
                return None
            return table  # INSERT … RETURNING

    def is_one_select(self, text: str) -> bool:
        """Whether a text is one query; raise when DuckDB cannot read it."""
        with withheld():
            found = self.connection.extract_statements(text)
        return [statement.type for statement in found] == [duckdb.StatementType.SELECT]

    def relation(self, text: str, parameters: object = None) -> duckdb.DuckDBPyRelation:
        """Return a query of the owner's own as a relation that runs when it is read."""
        with self._ready():
            return self.connection.sql(text, params=parameters)

    def relation_of(self, rows: pa.Table) -> duckdb.DuckDBPyRelation:
        """Return an answer of ours as a relation."""
        return self.connection.from_arrow(rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction, or as part of the one the owner has open.

        In DuckDB an error aborts the owner's whole transaction; so does one of ours: nothing
        that was begun can be committed by half.
        """
        if self.in_transaction():
            try:
                yield
            except BaseException:
                self._abort()
                raise
            return
        self.connection.begin()
        try:
            yield
            with withheld():
                self.connection.commit()
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def _ready(self) -> Iterator[None]:
        """End a result that nobody read: DuckDB runs nothing else beside it."""
        with withheld():
            self.connection.abort()
            yield

    def in_transaction(self) -> bool:
        """Whether the owner has a transaction open."""
        # Outside a transaction every statement is one of its own, with a number of its own.
        with self._ready():
            first, second = (
                self.connection.execute("SELECT system.main.txid_current()").fetchall()
                for _ in range(2)
            )
        return first == second

    def _abort(self) -> None:
        try:
            self.connection.begin()  # an error inside a transaction aborts it
        except duckdb.Error:
            return

    def _roll_back(self) -> None:
        try:
            self.connection.rollback()
        except duckdb.Error:
            return  # the failed commit already rolled back

    def columns(self, select: exp.Expr) -> list[tuple[str, str]]:
        """Return names and types of the columns of a SELECT, without running it."""
        with self._ready():
            relation = self.connection.sql(to_sql(select))
            return list(zip(relation.columns, map(str, relation.types), strict=True))

    def base_tables(self, select: exp.Expr) -> tuple[str, ...]:
        """Return the tables a SELECT reads in the end; empty where DuckDB cannot tell."""
        # On a cursor of its own: where it fails, it must not abort the owner's transaction.
        cursor = self.connection.cursor()
        try:
            cursor.execute(to_sql(exp.Use(this=table_of(QualifiedName((STORE_CATALOG,))))))
            return tuple(cursor.get_table_names(to_sql(select), qualified=True))
        except duckdb.Error:
            return ()
        finally:
            cursor.close()

    def current_schema(self) -> Name:
        """Return the schema of unqualified names; `main` while another database is in use."""
        row = self.query(
            "SELECT system.main.current_database() AS database, system.main.current_schema() AS schema"
        ).to_pylist()[0]
        return Name(row["schema"] if row["database"] == STORE_CATALOG.text else "main")

    def register(self, kernel: Kernel) -> None:
        """Register a function that statements of ours call."""
        _register(self.connection, kernel)

    def attach_new(self, path: Path, alias: Name) -> None:
        """Make a database file that DuckDB 1.2 and newer read, and attach it."""
        version = exp.AttachOption(
            this=exp.var("STORAGE_VERSION"), expression=exp.Literal.string("v1.2.0")
        )
        self.run(_attach(path, alias, version))

    def attach_published(self, path: Path, alias: Name) -> Contents:
        """Attach a file of somebody else's, for reading; return what is in it.

        Whoever made it may have put a view where a table is expected, and a view runs when it is
        read: look at what is in it before reading anything.
        """
        self.run(_attach(path, alias, _READ_ONLY))
        with self._ready():
            return _contents(self.connection, alias)

    def detach(self, alias: Name) -> None:
        """Let go of an attached database; its file is then complete."""
        self.run(_detach(alias))

    def progress(self) -> float:
        """Return how far the running statement is, in percent; -1 when DuckDB cannot tell."""
        return self.connection.query_progress()


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database file lists."""

    tables: frozenset[QualifiedName]
    others: tuple[str, ...]
    """Everything that runs or computes when it is read: views, macros, generated columns, …"""


def contents_of(path: Path) -> Contents | None:
    """Return what a database file lists; None if it is no such file.

    Asked of an engine of its own, so that nothing of the owner's is near.
    """
    with closed_engine(path) as connection:
        if connection is None:
            return None
        return _contents(connection, _LOOKED_AT)


def rows_of(path: Path, table: QualifiedName) -> pa.Table:
    """Return a table of a database file of tables alone."""
    name = QualifiedName((_LOOKED_AT, *table.parts))
    with withheld(), closed_engine(path) as connection:
        if connection is None:
            raise StoreError(f"'{path}' cannot be opened as a DuckDB database")
        return connection.sql(to_sql(exp.select("*").from_(table_of(name)))).to_arrow_table()


@contextmanager
def closed_engine(path: Path) -> Iterator[duckdb.DuckDBPyConnection | None]:
    """Give an engine that reaches one file and nothing else, attached for reading as `looked_at`.

    None if the file is no database.
    """
    allowed = [exp.Literal.string(str(each)) for each in (path, folder.wal_of(path))]
    with duckdb.connect(":memory:") as connection:
        connection.execute(to_sql(_set("allowed_paths", exp.array(*allowed))))
        connection.execute("SET enable_external_access = false")
        try:
            connection.execute(to_sql(_attach(path, _LOOKED_AT, _READ_ONLY)))
        except duckdb.Error:
            yield None
        else:
            yield connection


def _contents(connection: duckdb.DuckDBPyConnection, database: Name) -> Contents:
    rows = connection.execute(_OBJECTS, {"database": database.text}).fetchall()
    return Contents(
        frozenset(QualifiedName.of(schema, name) for kind, schema, name in rows if kind == "table"),
        tuple(sorted({kind for kind, _, _ in rows if kind != "table"})),
    )


def _arrow(rows: duckdb.DuckDBPyConnection) -> pa.Table:
    with warnings.catch_warnings():
        # DuckDB advises its relation interface, which cannot run statements with an effect.
        warnings.simplefilter("ignore", UserWarning)
        return rows.to_arrow_table()


def register(
    connection: duckdb.DuckDBPyConnection, transforms: Sequence[type[Transform]]
) -> tuple[str, ...]:
    """Register the kernels of treatments in anybody's connection; return their names."""
    kernels = [kernel for transform in transforms for kernel in getattr(transform, "kernels", ())]
    for kernel in kernels:
        _register(connection, kernel)
    return tuple(kernel.name for kernel in kernels)


def _register(connection: duckdb.DuckDBPyConnection, kernel: Kernel) -> None:
    with suppress(duckdb.InvalidInputException):  # the first time there is none to remove
        connection.remove_function(kernel.name)
    with suppress(duckdb.CatalogException):  # another cursor of the same database registered it
        connection.create_function(
            kernel.name,
            guarded(kernel.name, kernel.function),
            [duckdb.sqltype(type_) for type_ in kernel.arguments],
            duckdb.sqltype(kernel.returns),
            type=duckdb.func.PythonUDFType.ARROW,
            null_handling=duckdb.func.FunctionNullHandling.SPECIAL,
        )


def engine_error(error: duckdb.Error, what: str | None = None) -> EngineError:
    """Return an engine's error as ours; a text that may hold data is withheld."""
    kind = type(error).__name__.removesuffix("Exception")
    if isinstance(error, _SPEAKING):
        text = _ENUM_VALUES.sub("ENUM", str(error))  # the name of its type lists its values
        first = text.split("\n\nLINE ")[0].strip()
        return EngineError(f"{what}: {first}" if what else first, engine_text=text)
    return EngineError(
        f"{what or 'DuckDB could not run this statement'}: {kind} error",
        hint="DuckDB's own text is withheld because it may hold values of the data",
    )


@contextmanager
def withheld() -> Iterator[None]:
    """Turn DuckDB's errors into ours, without any text that may hold data."""
    try:
        yield
    except duckdb.Error as error:
        raise engine_error(error) from None


def engine_version() -> str:
    """Return the version of DuckDB."""
    return duckdb.__version__


def _open_error(database: Path | None, error: duckdb.Error, is_locked: bool = False) -> StoreError:
    holder = _HOLDER.search(str(error))
    if holder is not None:
        who = f"{holder['program'].rsplit('/', 1)[-1]}, process {holder['pid']}"
        if holder["user"]:
            who += f" of user {holder['user']}"
        return StoreError(
            f"'{database}' is open in another process: {who}",
            hint="one process at a time may open it; end that one or wait for it",
        )
    if "already attached" in str(error) or "Unique file handle" in str(error):
        return StoreError(
            f"'{database}' is already open in this process",
            hint="close the other connection, or share it",
        )
    if is_locked or "lock on file" in str(error):
        return _in_use(database)
    if database is not None and database.exists():
        folder.check_kind(database)
        return StoreError(
            f"'{database}' cannot be opened as a DuckDB database",
            hint="it is not a database, is damaged, or was written by a newer DuckDB",
        )
    return StoreError(f"'{database}' cannot be made: {type(error).__name__}")


def _in_use(database: Path | None) -> StoreError:
    return StoreError(
        f"'{database}' is open in another process",
        hint="one process at a time may open it; `fuser` names the one that does",
    )


def _attach(path: Path | str, alias: Name, *options: exp.Expr) -> exp.Expr:
    named = exp.alias_(exp.Literal.string(str(path)), exp.to_identifier(alias.text, quoted=True))
    return exp.Attach(this=named, expressions=[option.copy() for option in options])


def _detach(alias: Name) -> exp.Expr:
    return exp.Detach(this=exp.to_identifier(alias.text, quoted=True), exists=True)


def _set(name: str, value: exp.Expr) -> exp.Expr:
    assignment = exp.EQ(this=exp.column(name), expression=value)
    return exp.Set(expressions=[exp.SetItem(this=assignment)])
