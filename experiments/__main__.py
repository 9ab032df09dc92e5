"""Run all experiments; write docs/experiments.md."""

from __future__ import annotations

from experiments import digits, geometric, scba
from experiments.section import DOCS

ROOMS = (scba, geometric, digits)


def main() -> None:
    """Run and write."""
    parts = ["# Experiments", "Written by `make experiments`."]
    for room in ROOMS:
        section = room.run()
        parts += [f"## {section.title}", section.text.strip()]
    (DOCS / "experiments.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
