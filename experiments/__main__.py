"""Run all experiments; write docs/reports/experiments.md, docs/reports/mining.md and docs/reports/audit-sample.html."""

from __future__ import annotations

from experiments import audit_sample, digits, equivalence, geometric, scba
from experiments.section import DOCS

ROOMS = (scba, geometric, digits)


def main() -> None:
    """Run and write."""
    parts = ["# Experiments", "Written by `make experiments`."]
    for room in ROOMS:
        section = room.run()
        parts += [f"## {section.title}", section.text.strip()]
    (DOCS / "experiments.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    (DOCS / "mining.md").write_text(equivalence.page(), encoding="utf-8")
    audit_sample.write()


if __name__ == "__main__":
    main()
