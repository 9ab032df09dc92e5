"""Where a version of a release keeps what was drawn: one parameter row and its lookup tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from ppdm_sql.engine.sql import table_of
from ppdm_sql.errors import StoreError
from ppdm_sql.names import OWNER_SCHEMA, STORE_CATALOG, Name, QualifiedName
from ppdm_sql.parameters import Drawn, parameter_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.parameters import DrawnBySlot, Parameter

_ARROW_TYPES = {int: pa.int64(), float: pa.float64(), str: pa.string()}


def owner_table(name: str) -> QualifiedName:
    """Return the full name of a table of the store."""
    return QualifiedName((STORE_CATALOG, OWNER_SCHEMA, Name(name)))


@dataclass(frozen=True, slots=True)
class VersionStorage:
    """The tables of one version of one release, by their names."""

    release_id: int
    version: int

    @property
    def prefix(self) -> str:
        """What the names of all its tables begin with."""
        return f"r{self.release_id}_v{self.version}_"

    def parameter_table(self) -> QualifiedName:
        """Return the name of the one-row table of parameters."""
        return owner_table(self.prefix + "parameters")

    def lookup_table(self, slot: str, table: str) -> QualifiedName:
        """Return the name of one of a treatment's tables."""
        return owner_table(f"{self.prefix}{slot}_{table}")


def write_tables(engine: Engine, storage: VersionStorage, drawn: DrawnBySlot) -> None:
    """Write the lookup tables of some treatments."""
    for slot, values in drawn.items():
        for name, table in values.tables.items():
            engine.create_table(storage.lookup_table(slot, name), table)


def write_parameters(engine: Engine, storage: VersionStorage, drawn: DrawnBySlot) -> None:
    """Write the parameter row: everything drawn so far. Replaces the row of an earlier stage."""
    row = parameters_of(drawn)
    if row:
        engine.create_table(storage.parameter_table(), one_row(row))


def table_names(storage: VersionStorage, drawn: DrawnBySlot) -> list[str]:
    """Return the names of the tables that hold what was drawn."""
    names = [storage.parameter_table()] if parameters_of(drawn) else []
    names += [
        storage.lookup_table(slot, name) for slot, values in drawn.items() for name in values.tables
    ]
    return [name.name.text for name in names]


def parameters_of(drawn: DrawnBySlot) -> dict[str, Parameter]:
    """Return every parameter by its column."""
    return {
        parameter_column(slot, name): value
        for slot, values in drawn.items()
        for name, value in values.parameters.items()
    }


def one_row(row: Mapping[str, Parameter]) -> pa.Table:
    """Return parameters as a table of one row."""
    return pa.table({k: pa.array([v], _ARROW_TYPES[type(v)]) for k, v in row.items()})


def read_drawn(
    engine: Engine, storage: VersionStorage, slots: Sequence[str], tables: Sequence[str]
) -> dict[str, Drawn]:
    """Read back what a version drew, by slot; `tables` are the names the store recorded."""
    row = read_row(engine, storage, tables)
    drawn = {}
    for slot in slots:
        prefix = parameter_column(slot, "")
        own = {
            name.removeprefix(prefix): value
            for name, value in row.items()
            if name.startswith(prefix)
        }
        start = storage.prefix + prefix
        lookups = {
            name.removeprefix(start): engine.query(
                exp.select("*").from_(table_of(owner_table(name)))
            )
            for name in tables
            if name.startswith(start)
        }
        drawn[slot] = Drawn(own, lookups)
    return drawn


def read_row(
    engine: Engine, storage: VersionStorage, tables: Sequence[str]
) -> Mapping[str, Parameter]:
    """Return the parameters of a version; raise when its row is not there."""
    name = storage.parameter_table()
    if name.name.text not in tables:
        return {}
    rows: list[dict[str, Parameter]] = engine.query(
        exp.select("*").from_(table_of(name))
    ).to_pylist()
    if len(rows) != 1:
        raise StoreError(
            "the owner's store is damaged: a parameter table does not have exactly one row",
            hint="restore the database from a backup",
            code="store_damaged",
        )
    return rows[0]
