"""An audit as tables, for SQL."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.audit.report.model import Report

_STAMP = pa.schema(
    {
        "release": pa.string(),
        "version": pa.int64(),
        "rows": pa.int64(),
        "persons": pa.int64(),
        "sampled": pa.int64(),
        "seed": pa.int64(),
        "audited_at": pa.timestamp("us"),
        "script_sha256": pa.string(),
        "against": pa.string(),
        "accepted": pa.string(),
        "together_with": pa.string(),
    }
)
_FIGURES = pa.schema(
    {
        "part": pa.string(),
        "name": pa.string(),
        "about": pa.string(),
        "value": pa.float64(),
        "sentence": pa.string(),
    }
)
_ATTACKS = pa.schema(
    {
        "attack": pa.string(),
        "needs": pa.string(),
        "knowledge": pa.string(),
        "scope": pa.string(),
        "target": pa.string(),
        "share": pa.float64(),
        "chance": pa.float64(),
        "sentence": pa.string(),
    }
)
_COLUMNS = pa.schema(
    {
        "name": pa.string(),
        "role": pa.string(),
        "treatment": pa.string(),
        "utility": pa.float64(),
        "risk": pa.float64(),
    }
)
_SIZES = pa.schema({"least": pa.int64(), "most": pa.int64(), "persons": pa.int64()})

_SETS = pa.schema({"columns": pa.list_(pa.string()), "unique_share": pa.float64()})
_OUTCOMES = pa.schema({"requirement": pa.string(), "is_met": pa.bool_(), "sentence": pa.string()})

SCHEMAS = {
    "audit_stamp": _STAMP,
    "audit_figures": _FIGURES,
    "audit_attacks": _ATTACKS,
    "audit_columns": _COLUMNS,
    "audit_class_sizes": _SIZES,
    "audit_singling": _SETS,
    "audit_requirements": _OUTCOMES,
}
"""The tables that INTO writes, by name."""


def figures_table(report: Report) -> pa.Table:
    """Return all figures, one a row."""
    return _table(report.figures, _FIGURES)


def attacks_table(report: Report) -> pa.Table:
    """Return all attacks, one a row."""
    return pa.Table.from_pylist([attack.as_row() for attack in report.attacks], schema=_ATTACKS)


def report_tables(report: Report) -> dict[str, pa.Table]:
    """Return the tables that INTO writes, by name."""
    columns = [
        {name: getattr(column, name) for name in _COLUMNS.names} for column in report.columns
    ]
    stamp = {name: getattr(report.stamp, name) for name in _STAMP.names}
    # In UTC, without saying so in its type, as everywhere in the store.
    stamp["audited_at"] = report.stamp.audited_at.astimezone(UTC).replace(tzinfo=None)
    return {
        "audit_stamp": pa.Table.from_pylist([stamp], schema=_STAMP),
        "audit_figures": figures_table(report),
        "audit_attacks": attacks_table(report),
        "audit_columns": pa.Table.from_pylist(columns, schema=_COLUMNS),
        "audit_class_sizes": _table(report.class_sizes, _SIZES),
        "audit_singling": _table(report.singling, _SETS),
        "audit_requirements": _table(report.outcomes, _OUTCOMES),
    }


def _table(rows: Sequence[Any], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([asdict(row) for row in rows], schema=schema)
