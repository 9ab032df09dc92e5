"""Mutated statements against a session: answered or refused in fixed words, and nothing happens.

`make soak` tries 20,000, or as many as `PPDM_FUZZ` says.
"""

from __future__ import annotations

import os
import random
import re
import shutil
from typing import TYPE_CHECKING

import duckdb
import pytest

import ppdm_sql
from ppdm_sql.analyst.gate.functions import FUNCTIONS, TABLE_FUNCTIONS
from ppdm_sql.analyst.gate.nodes import CALLED
from tests.attack.test_analyst_session import ATTACKS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.attack.conftest import Holding

COUNTS = [500, pytest.param(int(os.environ.get("PPDM_FUZZ", "20000")), marks=pytest.mark.soak)]
SEED = 20_240_517

GOOD = (
    "SELECT ward, count(*), avg(weight) FROM research.people GROUP BY ward ORDER BY ALL",
    "WITH a AS (SELECT * FROM research.people WHERE weight > 1.5), b AS (FROM a) SELECT * FROM b LIMIT 3",
    "SELECT p.id, r.rows FROM research.people p JOIN release_info r ON true LIMIT 5",
    "SELECT row_number() OVER (PARTITION BY ward ORDER BY weight DESC) FROM research.people LIMIT 3",
    "SELECT CASE WHEN weight IS NULL THEN 'none' ELSE substring(id, 1, 3) END FROM research.people LIMIT 3",
    "SELECT illness, quantile_cont(weight, [0.25, 0.75]) FROM research.people GROUP BY 1 HAVING count(*) > 3",
    "SELECT * EXCLUDE (id) FROM research.people WHERE ward IN ('A', 'B') AND id LIKE 'P-%' LIMIT 2",
    "DESCRIBE research.people", "SHOW TABLES", "SUMMARIZE release_info",
    "SELECT (SELECT max(weight) FROM research.people), [1, 2, 3][1], {'a': 1}.a, DATE '2020-01-01' + INTERVAL 1 DAY",
    "FROM research.people PIVOT (count(*) FOR ward IN ('A', 'B')) LIMIT 2",
    "SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3",
    "FROM range(5) t(i) SELECT i, i * 2 AS twice WHERE i % 2 = 0",
)  # fmt: skip
# Bombs are another test's; the mutants of these take their time.
SEEDS = (*GOOD, *(attack for name, attack in ATTACKS.items() if "byte" not in name))
PIECES = (
    *sorted(FUNCTIONS | TABLE_FUNCTIONS), *CALLED.values(), "duckdb_settings()", "read_csv", "query",
    "'", '"', "''", "$$", "$1", "?", ";", "--", "/*", "*/", "(", ")", "[", "]", "{", "}", "\\", "\n", "\t",
    "\u202e", "\u00a0", "é", "☃", "\ud7ff", "0x1F", "1e999", "-1", "NULL", "research.people", "FROM",
    "WITH x AS (", "UNION", "AS", "COPY", "ATTACH", "INSERT INTO", "E'\\x41'", "x'41'", "::", "||",
)  # fmt: skip
WORDS = re.compile(r"\w+|\s+|.", re.DOTALL)


def mutants(count: int) -> list[str]:
    chance = random.Random(SEED)
    made: list[str] = []
    while len(made) < count:
        words = WORDS.findall(chance.choice(chance.choice((GOOD, SEEDS))))
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(words) + 1)
            match chance.randrange(6):
                case 0:
                    del words[at : at + chance.randint(1, 3)]
                case 1:
                    words.insert(at, chance.choice(PIECES))
                case 2:
                    words[at:at] = words[at : at + 4]
                case 3:
                    other = WORDS.findall(chance.choice(SEEDS))
                    words[at:] = other[chance.randrange(len(other) + 1) :]
                case 4 if words:
                    words[at % len(words)] = chance.choice(PIECES)
                case _:
                    words.insert(at, chr(chance.choice((9, 34, 39, 59, 92, 127, 160, 8203, 9731))))
        made.append("".join(words))
    return made


# Everything that a session may say; what stands in quotes is the analyst's own word.
TOLD = re.compile(
    r"""
      DuckDB\ cannot\ read\ this\ statement:\ syntax\ error | this\ statement\ may\ not\ be\ run
    | only\ one\ statement\ may\ be\ run\ at\ a\ time | this\ may\ not\ be\ shown
    | the\ function\ '.+'\ may\ not\ be\ used\ here | .+\ may\ not\ be\ used\ here
    | WITH\ may\ not\ give\ the\ name\ '.*'
    | there\ is\ no\ table\ '.*' | a\ table\ may\ not\ be\ named\ like\ this
    | '.+'\ is\ written\ without\ a\ schema | PIVOT\ may\ only\ name\ its\ values
    | a\ statement\ may\ not\ contain\ a\ null\ byte | there\ is\ no\ column\ '.+'\ here
    | there\ is\ no\ table\ or\ alias\ '.+'\ here | '.+'\ must\ be\ in\ GROUP\ BY\ or\ an\ aggregate
    | it\ is\ not\ clear\ which\ column\ '.+'\ means | '.+'\ takes\ other\ types
    | the\ names\ or\ types\ in\ this\ statement\ do\ not\ match
    | this\ statement\ names\ something\ that\ is\ missing | a\ value\ is\ out\ of\ range
    | a\ value\ cannot\ be\ converted\ to\ the\ requested\ type
    | a\ function\ was\ given\ a\ value\ it\ cannot\ take | DuckDB\ cannot\ do\ this
    | DuckDB\ could\ not\ run\ this\ statement | there\ is\ no\ value\ for\ the\ parameter\ \$.+
    """,
    re.VERBOSE | re.DOTALL,
)


@pytest.mark.parametrize("many", COUNTS)
def test_mutated_statements_are_answered_or_refused(holding: Holding, many: int) -> None:
    """Tries many statements that nobody would write, near ones that people do."""
    before = holding.file.read_bytes()
    beside = sorted(os.listdir(holding.file.parent))
    secrets = [secret.decode(errors="ignore") for secret in holding.secrets if secret.isascii()]
    answered = refused = 0
    with ppdm_sql.open_release(holding.file, timeout_s=5, memory_limit="200MB") as study:
        process = study._process
        for statement in mutants(many):
            try:
                text, told = repr(study.sql(statement).fetchmany(50)), ""
                answered += 1
            except ppdm_sql.PpdmError as error:
                text, told = f"{error.what} {error.hint}", error.what
                refused += 1
            assert not told or TOLD.fullmatch(told), (statement, told)
            assert study._process is process, f"the process ended: {statement!r}"
            unasked = [word for word in secrets if word in text and word not in statement]
            assert not unasked, statement
    assert holding.file.read_bytes() == before
    assert sorted(os.listdir(holding.file.parent)) == beside
    # Neither a gate that refuses everything nor one that refuses nothing would do.
    assert answered > many / 50
    assert refused > many / 2


@pytest.mark.parametrize("many", COUNTS)
def test_what_is_let_through_reads_only_tables_of_the_analyst(
    holding: Holding, tmp_path: Path, many: int
) -> None:
    """Holds the gate against DuckDB's own list of the tables that a statement reads."""
    from ppdm_sql.analyst.gate.admission import admit
    from ppdm_sql.analyst.worker import Worker
    from ppdm_sql.foreign.child import open_tables

    # In one process, DuckDB opens a file under one configuration only.
    file = shutil.copy(holding.file, tmp_path / "study.duckdb")
    connection, contents = open_tables(str(file), {"threads": "1"})
    worker = Worker(connection, contents)
    known = {str(table) for table in worker.surface.tables}
    seen = set()
    for statement in mutants(max(many // 4, 1)):
        try:
            canonical = admit(statement, worker, worker.surface)
        except ppdm_sql.PpdmError:
            continue
        kinds = [one.type for one in worker._connection.extract_statements(canonical)]
        assert kinds == [duckdb.StatementType.SELECT], statement
        try:
            tables = worker._connection.get_table_names(canonical, qualified=True)
        except duckdb.Error:
            continue
        seen |= {table.removeprefix("study.").partition(" AS ")[0] for table in tables}
    connection.close()
    assert seen <= known | {"release_info"}
    assert "research.people" in seen
