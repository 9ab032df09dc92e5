"""bit_minus() through releases: the mirror of bit_plus(), and what of it is its own."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PrivacyWarning, TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.digit_shift import BitMinus
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.types import ColumnType
from tests.session.treatments.one_table import fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]
PRINTED = [64871, 74564, 55929, 9546, 9843, 85680, 95675, 53248, 7549, 8652]
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
EXECUTIONS = ("native", "udf")


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, treatments: str = "bit_minus()", execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE AS {treatments})"
        f" WITH (execution = '{execution}')"
    )


def made(type_: str, decimals: int | None = None) -> BitMinus:
    arguments = () if decimals is None else (Argument("decimals", decimals),)
    column = InputColumn(Name("x"), ColumnType(type_), "table:x")
    return BitMinus.from_call(TreatmentCall("bit_minus", arguments), [column])


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_incomes_of_the_document(shared: Owner, execution: str) -> None:
    fill(shared, INCOMES, "INTEGER")
    release(shared, execution=execution)
    assert released(shared) == PRINTED


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "wider", "values", "expected"),
    [
        ("TINYINT", "SMALLINT", [127, -128, 100, 20], [116, -117, 199, 29]),
        ("UTINYINT", "SMALLINT", [255, 200, 10], [244, 299, 19]),
        ("SMALLINT", "INTEGER", [32767, -30000], [31656, -39999]),
        ("USMALLINT", "INTEGER", [65535, 60000], [64424, 69999]),
        ("INTEGER", "BIGINT", [2**31 - 1, -(2**31), -2000000000], None),
        ("UINTEGER", "BIGINT", [2**32 - 1, 4000000000], [4183856184, 4999999999]),
        (
            "BIGINT",
            "HUGEINT",
            [LARGEST, SMALLEST, 9 * 10**18, -(9 * 10**18), 10**18 - 1, 10],
            [
                9112261925743664796,
                -9112261925743664797,
                9999999999999999999,
                -9999999999999999999,
                988888888888888888,
                19,
            ],
        ),
    ],
)
def test_integers_to_their_ends_in_the_next_wider_type(
    shared: Owner,
    execution: str,
    type_: str,
    wider: str,
    values: list[int],
    expected: list[int] | None,
) -> None:
    fill(shared, [*values, None], type_)
    release(shared, execution=execution)
    wanted = [2036372536, -2036372537, -2999999999] if expected is None else expected
    assert released(shared) == [*wanted, None]
    assert str(shared.sql("SELECT x FROM r.t").types[0]) == wider


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        (
            "DECIMAL(4,2)",
            ["0.50", "0.05", "-12.34", "90.00", "10.01"],
            ["0.59", "0.05", "-11.23", "99.99", "19.90"],
        ),
        (
            "DECIMAL(18,0)",
            ["900000000000000000", "123456789012345678"],
            ["999999999999999999", "112345678901234567"],
        ),
        (
            "DECIMAL(18,9)",
            ["-900000000.000000000", "123456789.012345678"],
            ["-999999999.999999999", "112345678.901234567"],
        ),
    ],
)
def test_decimals_never_need_a_wider_type(
    shared: Owner, execution: str, type_: str, values: list[str], expected: list[str]
) -> None:
    fill(shared, [*values, None], type_)
    release(shared, execution=execution)
    assert released(shared) == [*map(Decimal, expected), None]
    assert str(shared.sql("SELECT x FROM r.t").types[0]) == type_


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_floating_point_with_decimals(shared: Owner, execution: str) -> None:
    fill(shared, [13.45, -13.45, 1.349, 0.05, 100.0, None], "DOUBLE")
    release(shared, "bit_minus(decimals => 2)", execution)
    assert released(shared) == [12.34, -12.34, 1.24, 0.05, 199.99, None]


def test_whole_numbers_that_no_double_could_hold_afterwards_are_not_released(
    shared: Owner,
) -> None:
    """9000000000000000 would become 9999999999999999, which is no DOUBLE: the inverse fails."""
    fill(shared, [12.0], "DOUBLE")
    release(shared, "bit_minus(decimals => 0)")
    shared.execute("INSERT INTO t VALUES (1, 9000000000000000)")
    assert released(shared)[1] in (None, 9999999999999999)


@pytest.mark.parametrize("first", ["bit_plus", "bit_minus"])
def test_each_undoes_the_other(shared: Owner, first: str) -> None:
    values = [*INCOMES, -10, 10**9, -(2**31), 2**31 - 1, 7, None]
    fill(shared, values, "INTEGER")
    second = {"bit_plus": "bit_minus", "bit_minus": "bit_plus"}[first]
    release(shared, f"{first}() THEN {second}()")
    assert released(shared) == values
    assert str(shared.sql("SELECT x FROM r.t").types[0]) == "HUGEINT"


def test_most_values_of_one_digit_are_said_aloud(shared: Owner) -> None:
    fill(shared, [1, 2, 30], "INTEGER")
    with pytest.warns(
        PrivacyWarning,
        match=r"^bit_minus of 'x': 2 values of 3 have one digit and are released unchanged$",
    ):
        release(shared)


@pytest.mark.parametrize(
    ("type_", "arguments", "what"),
    [
        ("DOUBLE", "", "bit_minus: 'x' is floating point, it has no last digit"),
        ("VARCHAR", "", "bit_minus cannot treat 'x' of type VARCHAR"),
        ("DATE", "", "bit_minus cannot treat 'x' of type DATE"),
        ("DECIMAL(38,2)", "", "bit_minus cannot treat 'x' of type DECIMAL(38,2)"),
        ("INTEGER", "1", "bit_minus: 'x' has its own decimals"),
        ("INTEGER", "1, 2", "bit_minus takes 1 argument"),
        ("DOUBLE", "-1", "bit_minus: 'decimals' must be a whole number from 0 to 9"),
    ],
)
def test_what_it_refuses(shared: Owner, type_: str, arguments: str, what: str) -> None:
    fill(shared, [], type_)
    with pytest.raises(TreatmentError) as caught:
        release(shared, f"bit_minus({arguments})")
    assert caught.value.what == what


def test_what_it_says_of_itself() -> None:
    minus = made("INTEGER")
    assert minus.exactness is Exactness.EXACT
    assert "no secret" in minus.undone_by
    assert minus.inverts


@pytest.mark.parametrize(
    ("type_", "values"),
    [("INTEGER", [10, -10, 2**31 - 1, 0, None]), ("BIGINT", [SMALLEST, LARGEST, 10**18, None])],
)
def test_the_owner_gets_the_values_back(
    shared: Owner, type_: str, values: list[int | None]
) -> None:
    fill(shared, values, type_)
    release(shared)
    outputs = shared.sql("SELECT x FROM r.t ORDER BY id").to_arrow_table()["x"].combine_chunks()
    (back,) = made(type_).invert([outputs], Drawn())
    assert [None if x is None else int(x) for x in back.to_pylist()] == values


@pytest.mark.parametrize(("literal", "original"), [(116, 127), (-19, -10), (5, 5), (0, 0)])
def test_an_equality_is_translated(literal: int, original: int) -> None:
    minus, columns = made("INTEGER"), [exp.column("x", quoted=True)]
    for operator in ("=", "<>"):
        tree = minus.invert_condition(operator, literal, columns, Drawn())
        assert tree is not None
        assert to_sql(tree) == f'"x" {operator} {original}'
    assert minus.invert_condition("<", literal, columns, Drawn()) is None
