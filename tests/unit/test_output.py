"""Numbers in tables for people."""

from __future__ import annotations

import pytest

from ppdm_sql.cli.output import print_table


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.007543978349, 4, "0.007544"),
        (0.5, 4, "0.5"),
        (12.34567, 4, "12.35"),
        (9999.4, 4, "9999"),
        (9999.6, 4, "10000"),
        (-123456.7, 4, "-123457"),
        (1.5e12, 4, "1.5e+12"),
        (float("nan"), 4, "nan"),
        (0.007543978349, 10, "0.007543978349"),
        (123456, 4, "123456"),
        (None, 4, "NULL"),
    ],
)
def test_numbers_have_so_many_digits(
    capsys: pytest.CaptureFixture[str], value: float | None, digits: int, shown: str
) -> None:
    print_table(["figure"], [(value,)], digits=digits)
    *_, row, _ = capsys.readouterr().out.splitlines()
    assert row.strip("│ ") == shown
