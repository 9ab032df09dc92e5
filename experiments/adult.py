"""Where UCI Adult is."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def folder() -> Path:
    """Return the folder with Adult and its hierarchies; end with a sentence where it is absent."""
    found = Path(os.environ.get("PPDM_ADULT", "../shared/data/adult"))
    if not (found / "adult_30162.csv").is_file():
        sys.exit(f"UCI Adult is not in {found}: set PPDM_ADULT to the folder that has it")
    return found
