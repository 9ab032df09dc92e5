"""A whole audit: a million rows of ten columns, in a process of its own for its memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Figure
from bench.spine import open_owner

_ROWS = 1_000_000
_SOURCE = """
CREATE TABLE main.people AS
SELECT
    i AS id,
    (42_000 + hash(i, 'zip') % 60)::VARCHAR AS zip,
    (15 + hash(i) % 76)::INTEGER AS age,
    ['F', 'M'][1 + (hash(i, 'sex') % 2)::INTEGER] AS sex,
    'diagnosis number ' || hash(i, 'diagnosis') % 40 AS diagnosis,
    (hash(i, 'income') % 10_000_000)::DOUBLE / 100 AS income,
    (hash(i, 'bmi') % 1000)::DOUBLE / 10 AS bmi,
    (60 + hash(i, 'pulse') % 900 / 10.0)::DOUBLE AS pulse,
    DATE '2020-01-01' + (hash(i, 'day') % 1000)::INTEGER AS day,
    (hash(i, 'stay') % 30)::INTEGER AS stay
FROM range($rows) AS numbers (i)
"""
_RELEASE = """
CREATE HIERARCHY zip_digits AS SUPPRESS DIGITS RIGHT;
CREATE HIERARCHY ages AS RANGES (5, 10, 20, 40);
CREATE RELEASE research.people FROM main.people (
    id KEY AS pseudonym(),
    zip QUASI, age QUASI, sex QUASI,
    diagnosis SENSITIVE AS mapping(),
    income SENSITIVE AS noise(normal(0, 1000)),
    (bmi, pulse) SENSITIVE AS rotation(),
    day NEUTRAL,
    stay NEUTRAL AS graded_grouping(bands => 5)
) GENERALIZE zip USING zip_digits, age USING ages, sex UNTIL k = 5
"""


def run(rows: int) -> Iterator[Figure]:
    """Audit a million rows, whatever the others are measured at."""
    del rows
    done = subprocess.run(
        [sys.executable, "-m", "bench.audit"], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    yield Figure("AUDIT RELEASE, 1 M rows of 10 columns", found["seconds"], "s", 60)
    yield Figure("memory of that process at its peak", found["gigabytes"], "GB", 2)


def main() -> None:
    with open_owner() as owner, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        owner.execute(_SOURCE, {"rows": _ROWS})
        owner.execute(_RELEASE)
        before = time.perf_counter()
        if "--stages" in sys.argv:
            clock = time.process_time()
            owner.on_stage(
                lambda s: print(
                    f"{time.perf_counter() - before:6.1f} s, {time.process_time() - clock:6.1f} s of CPU: {s}"
                )
            )
        owner.audit("research.people")
        seconds = time.perf_counter() - before
    print(json.dumps({"seconds": seconds, "gigabytes": _peak() / 1024**2}))


def _peak() -> int:
    """Return the most memory this process had, in kB.

    Not `ru_maxrss`: on Linux a child begins with what its parent had when it was made.
    """
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    main()
