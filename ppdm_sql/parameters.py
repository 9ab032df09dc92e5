"""What treatments fixed for good, as it is kept and found again. Secret, never printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

Parameter: TypeAlias = "int | float | str"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Everything a treatment fixed for good: secret, kept in the owner's store, never printed."""

    parameters: Mapping[str, Parameter] = field(default_factory=dict, repr=False)
    """Numbers and texts of the one-row table: int is stored as BIGINT, float as DOUBLE."""
    tables: Mapping[str, pa.Table] = field(default_factory=dict, repr=False)
    """Lookup tables, such as a mapping."""

    def number(self, name: str) -> float:
        """Return a parameter that is a number."""
        return float(self.parameters[name])


DrawnBySlot: TypeAlias = Mapping[str, Drawn]


def parameter_column(slot: str, name: str) -> str:
    """Return the column of the parameter row that holds one parameter."""
    return f"{slot}_{name}"
