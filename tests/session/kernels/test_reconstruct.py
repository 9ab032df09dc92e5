"""ppdm_reconstruct() in SQL: the distribution behind noise, group by group."""

from __future__ import annotations

import duckdb
import pytest

import ppdm_sql


def test_in_sql_by_groups() -> None:
    with duckdb.connect() as connection:
        ppdm_sql.register(connection)
        rows = connection.sql(
            "SELECT g, unnest(ppdm_reconstruct(list(x), 'normal(0, 5)', 10), recursive := true) FROM"
            " (SELECT i % 2 AS g, (i % 2) * 100 + i % 10 AS x FROM range(2000) t(i)) GROUP BY g"
        ).fetchall()
        assert len(rows) == 20
        for group in (0, 1):
            shares = [share for g, _, _, share in rows if g == group]
            assert sum(shares) == pytest.approx(1)
        nothing = "SELECT ppdm_reconstruct(NULL, 'normal(0, 5)', 10), ppdm_reconstruct([], 'normal(0, 5)', 3)"
        assert connection.sql(nothing).fetchall() == [(None, [])]
