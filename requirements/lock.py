"""`make lock`: write what CI installs, every file by its hash."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
MORE = "sqlglot[c]>=30,<31\nhatchling>=1.25\neditables\n"
OPTIONS = (
    "--quiet", "--generate-hashes", "--allow-unsafe", "--strip-extras", "--no-emit-index-url",
    "--no-emit-find-links", "--no-emit-trusted-host", "--no-header", "--no-annotate", "--extra=dev",
)  # fmt: skip
COMPILED = "sqlglotc=="


def main() -> None:
    """Resolve everything once; the compiled sqlglot goes to a file of its own."""
    with tempfile.TemporaryDirectory() as folder:
        more, out = Path(folder) / "more.in", Path(folder) / "all.txt"
        more.write_text(MORE, encoding="utf-8")
        compile_ = Path(sys.executable).with_name("pip-compile")
        project = HERE.parent / "pyproject.toml"
        subprocess.run([compile_, *OPTIONS, "-o", out, project, more], check=True)  # noqa: S603
        found = re.split(r"(?m)^(?=[^\s#])", out.read_text(encoding="utf-8"))
    packages = [one for one in found if "==" in one]
    usual = "".join(one for one in packages if not one.startswith(COMPILED))
    compiled = "".join(one for one in packages if one.startswith(COMPILED))
    head = "# What CI installs, every file by its hash; Python 3.11 on Linux. `make lock` writes it anew.\n"
    (HERE / "ci.txt").write_text(head + usual, encoding="utf-8")
    (HERE / "ci-compiled.txt").write_text(
        f"# The compiled sqlglot beside it.\n-r ci.txt\n{compiled}", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
