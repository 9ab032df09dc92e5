"""`make demo-sites`: three hospitals, then hospital, pharmacy and insurer, and a miner nobody trusts.

Every site is a folder with its own database, and every step a process of its own, started in the
folder of whoever takes it. Only files travel: the sealed agreement, publications, results.
"""

from __future__ import annotations

import csv
import json
import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pandas as pd

HERE = Path(__file__).parent
PPDM = Path(sys.executable).with_name("ppdm")
PEOPLE = 6_000
_WIDTH = 84
SECRET = {"PPDM_PASSPHRASE": secrets.token_urlsafe(16)}
"""Told from site to site by telephone."""


def main() -> None:
    """Run both studies in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory() as name:
        region = Path(name)
        everything = region / "nobody" / "everything.duckdb"
        people(everything)
        agree(region)
        say("Horizontal: three hospitals, the same columns, each its own patients")
        horizontal(region, everything)
        say("Vertical: hospital, pharmacy and insurer, different columns of the same people")
        vertical(region, everything)


def people(file: Path) -> None:
    """Generate the people; the folder `nobody` stands for the study that nobody may run."""
    file.parent.mkdir()
    with duckdb.connect(file) as connection:
        script = (HERE / "people.sql").read_text(encoding="utf-8")
        connection.execute(script, {"people": PEOPLE})


def agree(region: Path) -> None:
    """Let the first hospital write the agreement; the others import it with their scripts."""
    first = site(region, "hospital-1")
    run(first, "run", HERE / "agreement.sql", "--db", "owner/site.duckdb")


def fingerprint(region: Path) -> str:
    """Return what a site tells the miner: the key that must have signed every file."""
    show = region / "hospital-1" / "show.sql"
    show.write_text("SHOW AGREEMENTS", encoding="utf-8")
    listed = run(
        show.parent, "run", show, "--db", "owner/site.duckdb", "--format", "json", quiet=True
    )
    told: str = json.loads(listed.splitlines()[0])["fingerprint"]
    return told


def horizontal(region: Path, everything: Path) -> None:
    """Stack three hospitals, mine, and let the first read the results."""
    files = []
    for number in (1, 2, 3):
        folder = site(region, f"hospital-{number}")
        give(everything, folder, f"hash(person) % 3 = {number - 1}")
        files.append(release(folder, "hospital.sql"))
    miner = site(region, "miner")
    told = ("--agreement", fingerprint(region))
    run(miner, "combine", "--stack", *files, "--to", "study-data.duckdb", *told)
    mine(miner, miner / "study-data.duckdb", "study.patients", "illness", "results")
    reader = region / "hospital-1"
    back = read_back([reader], miner / "results")
    columns = "person, name, age, sex, smokes, weight, illness"
    compare(region, everything, columns, "illness", miner / "results", back)


def vertical(region: Path, everything: Path) -> None:
    """Join three kinds of sites, mine, and let the results go round."""
    folders, files = [], []
    for name in ("hospital", "pharmacy", "insurer"):
        folder = site(region, name)
        give(everything, folder, "true" if name != "pharmacy" else "hash(person, 'p') % 20 > 0")
        folders.append(folder)
        files.append(release(folder, f"{name}.sql"))
    print(run(folders[0], "run", HERE / "neighbour.sql", "--db", "owner/site.duckdb", "-q"))
    miner = site(region, "miner-2")
    told = ("--agreement", fingerprint(region), "--missing", "drop")
    run(miner, "combine", "--join", *files, "--to", "study-data.duckdb", *told)
    mine(miner, miner / "study-data.duckdb", "study.patients", "claims", "results")
    back = read_back(folders, miner / "results")
    columns = "person, name, age, sex, smokes, weight, illness, drug, dose, claims"
    where = "WHERE hash(person, 'p') % 20 > 0"
    compare(region, everything, columns, "claims", miner / "results", back, where)


def site(region: Path, name: str) -> Path:
    """Return the folder of a site."""
    folder = region / name
    folder.mkdir(exist_ok=True)
    return folder


def give(everything: Path, folder: Path, which: str) -> None:
    """Put the people whom a site knows into its folder."""
    with duckdb.connect(everything, read_only=True) as connection:
        connection.sql(f"SELECT * FROM people WHERE {which}").write_parquet(
            str(folder / "people.parquet")
        )


def release(folder: Path, script: str) -> Path:
    """Let a site import the agreement, release and publish."""
    run(folder, "run", HERE / script, "--db", "owner/site.duckdb")
    run(folder, "publish", "study.patients", "--to", "out.duckdb", "--db", "owner/site.duckdb")
    return folder / "out.duckdb"


def mine(folder: Path, file: Path, table: str, target: str, results: str) -> None:
    """Let the miner mine, in a process that sees published data only."""
    command = [sys.executable, str(HERE / "mining.py"), str(file), table, target, results]
    subprocess.run(command, cwd=folder, check=True)


def read_back(sites: list[Path], results: Path) -> Path:
    """Let results go from site to site; each translates its own columns."""
    for name in ("rules.csv", "centroids.csv", "tree.txt"):
        travelling = results / name
        for folder in sites:
            (folder / "results").mkdir(exist_ok=True)
            form = ("--format", "csv") if name.endswith(".csv") else ()
            text = run(
                folder, "interpret", "study.patients", travelling, *form,
                "--db", "owner/site.duckdb", quiet=True,
            )  # fmt: skip
            travelling = folder / "results" / name
            travelling.write_text(text, encoding="utf-8")
    return sites[-1] / "results"


def compare(
    region: Path,
    everything: Path,
    columns: str,
    target: str,
    released: Path,
    back: Path,
    where: str = "",
) -> None:
    """Print what the miner found beside what the study nobody may run finds."""
    whole = region / "nobody" / f"{target}.duckdb"
    with duckdb.connect(whole) as connection:
        connection.execute(f"ATTACH '{everything}' AS everything (READ_ONLY)")
        connection.execute(f"CREATE TABLE whole AS SELECT {columns} FROM everything.people {where}")
    mine(whole.parent, whole, "whole", target, str(whole.parent / target))
    here, there = (
        json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        for folder in (whole.parent / target, released)
    )
    table = [(name, str(here[name]), str(there[name])) for name in here]
    ours, theirs = rules_of(whole.parent / target), rules_of(back)
    table.append(("rules that are the same, read back", str(len(ours)), str(len(ours & theirs))))
    print("\nThe study nobody may run, with all raw data in one place, and what the miner had:")
    for name, raw, mined in table:
        print(f"  {name}\n      {cut(raw)}\n    {'=' if raw == mined else '≠'} {cut(mined)}")
    print("\nThe tree as the miner saw it, and as the sites read it:")
    seen = (released / "tree.txt").read_text(encoding="utf-8").splitlines()
    read = (back / "tree.txt").read_text(encoding="utf-8").splitlines()
    for left, right in list(zip(seen, read, strict=True))[:8]:
        print(f"  {left:48}  {right}")
    print("\nThe strongest rules, read back:")
    found = pd.read_csv(back / "rules.csv").nlargest(4, "confidence")
    for row in found.itertuples():
        print(
            f"  {row.antecedents} => {row.consequents}  ({row.support:.3f}, {row.confidence:.3f})"
        )


def cut(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]} …"


def rules_of(folder: Path) -> set[tuple[frozenset[str], frozenset[str], str, str]]:
    """Return rules of a file with their measures, to be compared one by one."""
    with (folder / "rules.csv").open(encoding="utf-8", newline="") as file:
        return {
            (
                items_of(row["antecedents"]),
                items_of(row["consequents"]),
                f"{float(row['support']):.12g}",
                f"{float(row['confidence']):.12g}",
            )
            for row in csv.DictReader(file)
        }


def items_of(text: str) -> frozenset[str]:
    """Return the items of a printed set."""
    return frozenset(text.removeprefix("frozenset({").removesuffix("})").strip("'").split("', '"))


def run(folder: Path, *arguments: str | Path, quiet: bool = False) -> str:
    """Run `ppdm` as whoever owns a folder; show the command."""
    shown = [
        str(part.relative_to(folder.parent)) if isinstance(part, Path) and folder.parent in part.parents
        else part.name if isinstance(part, Path) else part
        for part in arguments
    ]  # fmt: skip
    if not quiet:
        print(f"{folder.name:>11}$ ppdm {' '.join(shown)}")
    done = subprocess.run(
        [PPDM, *map(str, arguments)],
        cwd=folder,
        env=os.environ | SECRET,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def say(text: str) -> None:
    """Print a title."""
    print(f"\n── {text}\n")


if __name__ == "__main__":
    main()
