"""DuckDB, and nobody but this room imports it: connect, run, read schemas, register functions."""

from __future__ import annotations

import os
import re
import secrets
import threading
import warnings
import weakref
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import duckdb
import duckdb.func
from sqlglot import exp

from ppdm_sql.engine.duckdb_errors import open_error, withheld
from ppdm_sql.engine.kernel import guarded
from ppdm_sql.engine.sql import table_of, to_sql
from ppdm_sql.engine.stopping import Stopping
from ppdm_sql.errors import EngineError, raise_alone
from ppdm_sql.names import STORE_CATALOG, Name, QualifiedName

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    import pyarrow as pa

    from ppdm_sql.engine.kernel import Kernel

_READ_ONLY = exp.AttachOption(this=exp.var("READ_ONLY"))
_WRITES = re.compile(r"\b(?:insert|update|delete|merge|copy)\b", re.IGNORECASE)


class Engine:
    """One connection to the owner's database."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, parent: Engine | None = None) -> None:
        # Without this, a name in SQL could be a Python variable of our own frames.
        connection.execute("SET python_enable_replacements = false")
        # Progress is polled by whoever shows it; nothing is printed from here.
        connection.execute("SET enable_progress_bar = true")
        connection.execute("SET enable_progress_bar_print = false")
        self.connection = connection
        self._parent = parent  # kept alive: it holds the lock of the database
        self._cursors: weakref.WeakSet[Engine] = weakref.WeakSet()
        self._stopping = Stopping(connection.interrupt)
        self.shows_errors = False
        """Whether DuckDB's own texts of errors are shown, of statements that are not ours."""
        self._at_end = ExitStack()
        self._process = os.getpid()
        self._turn = threading.RLock()
        self._number = 0
        """Of the last statement: it ends what the one before it left unread."""
        # Also where nobody closes it: the stack does not know the engine.
        weakref.finalize(connection, _finish, self._at_end, self._process)

    @classmethod
    def open(cls) -> Engine:
        """Open an engine with nothing in it."""
        return cls(duckdb.connect(":memory:"))

    def cursor(self) -> Engine:
        """Return another connection to the same databases, for another thread."""
        if self._parent is not None:
            return self._parent.cursor()
        self._check_process()
        with withheld():  # beside whatever runs: nothing is read of this connection
            made = Engine(self.connection.cursor(), self)
        made.shows_errors = self.shows_errors
        made.use(STORE_CATALOG)
        self._cursors.add(made)
        return made

    def spill_to(self, folder: str) -> None:
        """Have what does not fit into memory written to a folder."""
        self.run(_set("temp_directory", exp.Literal.string(folder)))

    def use(self, catalog: Name) -> None:
        """Look unqualified names up in an attached database."""
        self.run(exp.Use(this=table_of(QualifiedName((catalog,)))))

    def use_nothing(self) -> None:
        """Look names up in no attached database, so that each can be let go of."""
        self.use(Name("memory"))

    def attach(self, path: Path | str, alias: Name, read_only: bool = False) -> None:
        """Attach a database file, or make it; the errors of DuckDB are those of opening a file."""
        try:
            options = (_READ_ONLY,) if read_only else ()
            self.connection.execute(to_sql(_attach(path, alias, *options)))
        except duckdb.Error as error:
            raise_alone(open_error(error))

    def at_end(self, call: Callable[..., object], *arguments: object) -> None:
        """Have something called when the connection is closed, by whomever."""
        self._at_end.callback(call, *arguments)

    def interrupt(self) -> None:
        """Stop the running statement; may be called from another thread."""
        self._stopping.stop()

    @contextmanager
    def work(self) -> Iterator[None]:
        """Run a block of statements that an interrupt stops as a whole."""
        with self._taken(), self._stopping.work():
            yield

    @contextmanager
    def _taken(self) -> Iterator[None]:
        """Let no other thread use the connection: it would read this one's rows."""
        if not self._turn.acquire(blocking=False):
            raise EngineError(
                "this connection is busy in another thread",
                hint="give each thread its own: owner.cursor()",
                code="other_thread",
            )
        try:
            yield
        finally:
            self._turn.release()

    def unread(self) -> Callable[[], AbstractContextManager[None]]:
        """Return what must be entered to read rows of the last statement, later."""
        return partial(self._reading, self._number)

    @contextmanager
    def _reading(self, number: int) -> Iterator[None]:
        with self._taken():
            if number != self._number:
                raise EngineError(
                    "another statement has ended this result",
                    hint="read its rows before the next statement, for example with .arrow()",
                    code="result_ended",
                )
            yield

    @contextmanager
    def unstoppable(self) -> Iterator[None]:
        """Run a block to its end, whoever interrupts."""
        with self._stopping.held():
            yield

    def check(self) -> None:
        """End the work here, if somebody wants it to stop."""
        self._stopping.check()

    def close(self) -> None:
        """Close the connection and its cursors; another process may then open the file."""
        for cursor in list(self._cursors):
            cursor.close()
        self.connection.close()
        _finish(self._at_end, self._process)

    def query(self, statement: str | exp.Expr, parameters: tuple[Any, ...] = ()) -> pa.Table:
        """Run one statement of ours and return its rows."""
        text = statement if isinstance(statement, str) else to_sql(statement)
        with self._ready(text):
            relation = self.connection.sql(text, params=list(parameters) or None)
            return relation.to_arrow_table()

    def run(self, statement: str | exp.Expr, parameters: tuple[Any, ...] = ()) -> None:
        """Run one statement of ours to its end."""
        text = statement if isinstance(statement, str) else to_sql(statement)
        with self._ready(text):
            # Execution streams: an error can come at fetch, so fetch before anything is committed.
            self.connection.execute(text, list(parameters)).fetchall()

    def change(self, statement: exp.Expr) -> int:
        """Run an INSERT, UPDATE or DELETE of ours; return how many rows it wrote."""
        text = to_sql(statement)
        with self._ready(text):
            ((count,),) = self.connection.execute(text).fetchall()
            return int(count)

    def create_table(self, name: QualifiedName, data: pa.Table | pa.RecordBatchReader) -> None:
        """Write a table in bulk, in place of one of that name."""
        with self.lend(data) as incoming:
            rows = exp.select("*").from_(table_of(incoming))
            self.run(exp.Create(this=table_of(name), kind="TABLE", expression=rows, replace=True))

    def insert(self, name: QualifiedName, data: pa.Table) -> None:
        """Add rows to a table in bulk, by the names of their columns."""
        with self.lend(data) as incoming:
            columns = [exp.to_identifier(column, quoted=True) for column in data.column_names]
            rows = exp.select(*(exp.column(column.copy()) for column in columns))
            target = exp.Schema(this=table_of(name), expressions=columns)
            self.run(exp.Insert(this=target, expression=rows.from_(table_of(incoming))))

    @contextmanager
    def temporary_table(self, prefix: str, rows: exp.Select) -> Iterator[QualifiedName]:
        """Give rows as they are now, beside the owner's database and for a while."""
        name = QualifiedName.of("temp", "main", f"{prefix}_{secrets.token_hex(8)}")
        temporary = exp.Properties(expressions=[exp.TemporaryProperty()])
        table = table_of(name)
        self.run(exp.Create(this=table, kind="TABLE", expression=rows, properties=temporary))
        try:
            yield name
        finally:
            with suppress(EngineError):  # in an aborted transaction it is gone already
                self.run(exp.Drop(tables=[table.copy()], kind="TABLE"))

    @contextmanager
    def lend(self, data: pa.Table | pa.RecordBatchReader) -> Iterator[QualifiedName]:
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
        with self._ready(text, self.shows_errors):
            (statement,) = self.connection.extract_statements(text)
            expected = statement.expected_result_type
            rows = self.connection.execute(statement, parameters)
            if expected == [duckdb.ExpectedResultType.QUERY_RESULT]:
                # A CTE may write: such a statement is read to its end, too.
                return arrow_of(rows) if _WRITES.search(text) else rows
            table = arrow_of(rows) if rows.description else None
            if table is None or table.column_names in (["Count"], ["Success"]):
                return None
            return table  # INSERT … RETURNING

    def is_one_select(self, text: str) -> bool:
        """Whether a text is one query; raise when DuckDB cannot read it."""
        with withheld(text):
            found = self.connection.extract_statements(text)
        return [statement.type for statement in found] == [duckdb.StatementType.SELECT]

    def relation(self, text: str, parameters: object = None) -> duckdb.DuckDBPyRelation:
        """Return a query of the owner's own as a relation that runs when it is read."""
        with self._ready(text, self.shows_errors):
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
    def _ready(self, text: str = "", is_shown: bool | None = None) -> Iterator[None]:
        """End a result that nobody read: DuckDB runs nothing else beside it."""
        self._check_process()
        self.check()
        try:
            with self._taken(), withheld(text, is_shown):
                self._number += 1
                self.connection.abort()
                yield
        except EngineError as error:
            self._stopping.pass_on(error)
            raise

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            # A forked process has the connection and none of its locks: what it writes is lost.
            raise EngineError(
                "this connection belongs to the parent process",
                hint="connect again in this process, after the parent has closed it",
                code="open_elsewhere",
            )

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
        text = to_sql(select)
        with self._ready(text):
            relation = self.connection.sql(text)
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
        register(self.connection, kernel)

    def attach_new(self, path: Path, alias: Name) -> None:
        """Make a database file that DuckDB 1.2 and newer read, and attach it."""
        version = exp.AttachOption(
            this=exp.var("STORAGE_VERSION"), expression=exp.Literal.string("v1.2.0")
        )
        self.run(_attach(path, alias, version))

    def detach(self, alias: Name) -> None:
        """Let go of an attached database; its file is then complete."""
        self.run(_detach(alias))

    def progress(self) -> float:
        """Return how far the running statement is, in percent; -1 when DuckDB cannot tell."""
        return self.connection.query_progress()


def _finish(at_end: ExitStack, process: int) -> None:
    """Give back what a connection holds; not in a fork, where it is still the parent's."""
    if os.getpid() == process:
        at_end.close()
    else:
        at_end.pop_all()


def arrow_of(rows: duckdb.DuckDBPyConnection) -> pa.Table:
    """Return what waits on a connection, all of it."""
    # DuckDB advises its relation interface, which cannot run statements with an effect. The filter
    # stays: one that is taken back again is not safe beside other threads.
    warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
    return rows.to_arrow_table()


def register(connection: duckdb.DuckDBPyConnection, kernel: Kernel) -> None:
    """Register a function in anybody's connection; twice is no error."""
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


def engine_version() -> str:
    """Return the version of DuckDB."""
    return duckdb.__version__


def _attach(path: Path | str, alias: Name, *options: exp.Expr) -> exp.Expr:
    named = exp.alias_(exp.Literal.string(str(path)), exp.to_identifier(alias.text, quoted=True))
    # Else DuckDB looks what kind of file it is, and may load code to read it.
    kind = exp.AttachOption(this=exp.var("TYPE"), expression=exp.var("duckdb"))
    return exp.Attach(this=named, expressions=[kind, *(option.copy() for option in options)])


def _detach(alias: Name) -> exp.Expr:
    return exp.Detach(this=exp.to_identifier(alias.text, quoted=True), exists=True)


def _set(name: str, value: exp.Expr) -> exp.Expr:
    assignment = exp.EQ(this=exp.column(name), expression=value)
    return exp.Set(expressions=[exp.SetItem(this=assignment)])
