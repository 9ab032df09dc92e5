"""A table `t` that a treatment is tried on, and what its release `r.t` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.owner import Owner


def fill(owner: Owner, values: Sequence[object], type_: str = "DOUBLE") -> None:
    """Make `t` with one column `x`, and a number `id` for each row."""
    owner.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, x {type_})")
    add(owner, values, type_)


def add(owner: Owner, values: Sequence[object], type_: str = "DOUBLE") -> None:
    """Add rows, numbered on."""
    add_rows(owner, [[value] for value in values], type_)


def fill_rows(owner: Owner, rows: Sequence[Sequence[object]], *types: str) -> None:
    """Make `t` with the columns c0, c1, … and a number `id` for each row."""
    columns = ", ".join(f"c{at} {type_}" for at, type_ in enumerate(types))
    owner.execute(f"CREATE OR REPLACE TABLE t (id INTEGER, {columns})")
    add_rows(owner, rows, *types)


def add_rows(owner: Owner, rows: Sequence[Sequence[object]], *types: str) -> None:
    """Add rows of several columns, numbered on."""
    values = ", ".join(f"?::{type_}" for type_ in types)
    for row in rows:
        owner.connection.execute(f"INSERT INTO t SELECT count(*), {values} FROM t", [*row])


def released(owner: Owner, name: str = "r.t") -> list[Any]:
    """Return the released rows in order; of one column, its values."""
    rows = owner.sql(f"SELECT * EXCLUDE (id) FROM {name} ORDER BY id").fetchall()
    return [row[0] if len(row) == 1 else row for row in rows]
