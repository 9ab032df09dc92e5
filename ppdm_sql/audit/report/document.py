"""An audit as JSON: docs/owner/audit.md describes every field."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ppdm_sql.audit.report.model import Report

FORMAT = 1


def to_json(report: Report) -> str:
    """Return a report as JSON text."""
    content = _plain(asdict(report))
    for figure in content["figures"]:
        del figure["is_owners"], figure["is_withheld"]
    for column in content["columns"]:
        del column["traits"]
    content["attacks"] = _plain([attack.as_row() for attack in report.attacks])
    content["stamp"]["software"] = dict(report.stamp.software)
    document = {"format": FORMAT, **content}
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case float() if not math.isfinite(value):
            return None
        case datetime():
            return value.isoformat()
        case _:
            return value
