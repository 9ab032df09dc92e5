"""The sample report that the README links: an audit of the release in demo/."""

from __future__ import annotations

from pathlib import Path

import ppdm_sql
from experiments.section import DOCS

_PATIENTS = 20_000


def write() -> None:
    """Audit the demo's release; write docs/reports/audit-sample.html."""
    demo = Path("demo")
    with ppdm_sql.connect(":memory:") as owner:
        patients = (demo / "patients.sql").read_text(encoding="utf-8")
        owner.execute(patients.replace("$patients", str(_PATIENTS)))
        owner.execute((demo / "release.sql").read_text(encoding="utf-8"))
        owner.execute(f"AUDIT RELEASE research.patients TO '{DOCS / 'audit-sample.html'}'")
