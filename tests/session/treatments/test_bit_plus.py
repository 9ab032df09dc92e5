"""bit_plus() through releases: every type it takes, the ends of each, what it refuses."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import PrivacyWarning, TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.digit_shift import BitPlus
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.types import ColumnType
from tests.session.treatments.one_table import add, fill, released

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner

INCOMES = [65982, 75675, 56030, 9657, 9954, 86791, 96786, 54359, 7650, 8763]
PRINTED = [66093, 76786, 57141, 9768, 9065, 87802, 97897, 55460, 7761, 8874]
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
EXECUTIONS = ("native", "udf")


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, arguments: str = "", execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE AS bit_plus({arguments}))"
        f" WITH (execution = '{execution}')"
    )


def type_of(owner: Owner) -> str:
    return str(owner.sql("SELECT x FROM r.t").types[0])


def moved(
    owner: Owner,
    values: Sequence[object],
    type_: str,
    arguments: str = "",
    execution: str = "native",
) -> list[Any]:
    fill(owner, values, type_)
    release(owner, arguments, execution)
    return released(owner)


def made(type_: str, decimals: int | None = None) -> BitPlus:
    arguments = () if decimals is None else (Argument("decimals", decimals),)
    column = InputColumn(Name("x"), ColumnType(type_), "table:x")
    return BitPlus.from_call(TreatmentCall("bit_plus", arguments), [column])


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_incomes_of_the_document(shared: Owner, execution: str) -> None:
    assert moved(shared, INCOMES, "INTEGER", execution=execution) == PRINTED


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "wider", "values", "expected"),
    [
        ("TINYINT", "SMALLINT", [127, -128, 100, 99, 19], [138, -139, 111, 90, 10]),
        ("UTINYINT", "SMALLINT", [255, 199, 10, 20, 99], [266, 100, 11, 21, 90]),
        ("SMALLINT", "INTEGER", [32767, -32768, 1000], [33878, -33879, 1111]),
        ("USMALLINT", "INTEGER", [65535, 60999], [66646, 61000]),
        ("INTEGER", "BIGINT", [2**31 - 1, -(2**31)], [2258594758, -2258594759]),
        ("UINTEGER", "BIGINT", [2**32 - 1, 4000000009], [4305078306, 4111111110]),
        (
            "BIGINT",
            "HUGEINT",
            [LARGEST, SMALLEST, 10**18, -(10**18), 10**18 - 1, 1 - 10**18, 12],
            [
                9334483147965886918,
                -9334483147965886919,
                1111111111111111111,
                -1111111111111111111,
                900000000000000000,
                -900000000000000000,
                13,
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
    expected: list[int],
) -> None:
    assert moved(shared, [*values, None], type_, execution=execution) == [*expected, None]
    assert type_of(shared) == wider


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        ("DECIMAL(4,2)", ["0.50", "-0.50", "12.34", "99.99"], ["0.51", "-0.51", "13.45", "90.00"]),
        ("DECIMAL(4,2)", ["0.05", "10.00", "10.50", "0.99"], ["0.05", "11.11", "11.61", "0.90"]),
        ("DECIMAL(10,2)", ["1200.50", "-99999999.99"], ["1311.61", "-90000000.00"]),
        ("DECIMAL(9,0)", ["999999999", "-10"], ["900000000", "-11"]),
        ("DECIMAL(2,2)", ["0.19", "0.10", "-0.99"], ["0.10", "0.11", "-0.90"]),
        ("DECIMAL(18,0)", ["999999999999999999", "123456789012345678"], None),
        ("DECIMAL(18,2)", ["9999999999999999.99", "-1234567890123456.78", "0.10"], None),
        ("DECIMAL(18,9)", ["123456789.012345678", "-999999999.999999999"], None),
        ("DECIMAL(18,17)", ["9.01234567890123456"], None),
        ("DECIMAL(18,18)", ["0.123456789012345678", "-0.000000000000000010"], None),
    ],
)
def test_decimals_move_after_the_point_too_and_keep_their_type(
    shared: Owner, execution: str, type_: str, values: list[str], expected: list[str] | None
) -> None:
    wanted = [by_hand(value) for value in values] if expected is None else expected
    found = moved(shared, [*values, None], type_, execution=execution)
    assert found == [*map(Decimal, wanted), None]
    assert type_of(shared) == type_


def by_hand(text: str) -> str:
    """Return a number as text with all its digits moved but the leading one."""
    before = text[: next(at for at, letter in enumerate(text) if letter in "123456789") + 1]
    after = text[len(before) :]
    return before + "".join(d if d == "." else str((int(d) + 1) % 10) for d in after)


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_floating_point_moves_as_many_decimals_as_asked(shared: Owner, execution: str) -> None:
    values = [12.34, -12.34, 1.239, 1.231, 0.05, 0.5, 1e10, -0.0, None]
    found = moved(shared, values, "DOUBLE", "decimals => 2", execution)
    assert found == [13.45, -13.45, 1.35, 1.34, 0.05, 0.51, 11111111111.11, 0.0, None]
    assert type_of(shared) == "DOUBLE"
    assert moved(shared, [12.34, 129.5], "DOUBLE", "decimals => 0", execution) == [13.0, 141.0]
    assert moved(shared, [0.1], "FLOAT", "decimals => 3", execution) == [0.111]
    assert type_of(shared) == "DOUBLE"


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_largest_whole_numbers_are_right_or_not_computed(shared: Owner, execution: str) -> None:
    """A DOUBLE holds 15 digits whatever they are; of more it may hold the number, not its image."""
    images = {
        999_999_999_999_999.0: 900_000_000_000_000.0,
        -123_456_789_012_345.0: -134_567_890_123_456.0,
        2.0**51 + 1: 2362800924796350.0,
        2.0**52 - 1: 4614600738481506.0,
        2.0**52 + 1: 4614600738481508.0,
        2.0**52 + 3: 4614600738481500.0,
        8_999_999_999_999_999.0: 8_000_000_000_000_000.0,
        2.0**53 - 1: 9118200365851002.0,
    }
    fill(shared, [12.5], "DOUBLE")
    release(shared, "decimals => 0", execution)
    add(shared, [*images], "DOUBLE")
    for x, y in zip(images, released(shared)[1:], strict=True):
        assert y == images[x] or (y is None and x >= 1e15), x


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_what_has_no_digits_is_refused_at_creation_and_null_later(
    shared: Owner, execution: str
) -> None:
    wrong = ["nan", "infinity", "-infinity", "1e300", "-1e17", "9007199254740992"]
    fill(shared, ["12.5", *wrong], "DOUBLE")
    with pytest.raises(TreatmentError) as caught:
        release(shared, "decimals => 0", execution)
    assert caught.value.what == (
        "bit_plus: 6 rows of 'x' cannot be computed (NaN, infinite or out of range)"
    )
    fill(shared, ["12.5"], "DOUBLE")
    release(shared, "decimals => 0", execution)
    add(shared, wrong, "DOUBLE")
    assert released(shared) == [14.0, *[None] * 6]


def test_most_values_of_one_digit_are_said_aloud(shared: Owner) -> None:
    fill(shared, [1, 2, 0, -9, 11, None], "INTEGER")
    with pytest.warns(
        PrivacyWarning,
        match=r"^bit_plus of 'x': 4 values of 5 have one digit and are released unchanged$",
    ):
        release(shared)
    assert released(shared) == [1, 2, 0, -9, 12, None]


@pytest.mark.parametrize("values", [[1, 11], [1, 2, 11, 12], [None, None, 11]])
def test_half_of_them_are_not(shared: Owner, values: list[int | None]) -> None:
    fill(shared, values, "INTEGER")
    release(shared)


@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_column_without_values_can_be_released(shared: Owner, values: list[None]) -> None:
    assert moved(shared, values, "INTEGER") == values
    assert moved(shared, values, "DOUBLE", "decimals => 1") == values


@pytest.mark.parametrize(
    ("type_", "arguments", "what", "hint"),
    [
        (
            "DOUBLE",
            "",
            "bit_plus: 'x' is floating point, it has no last digit",
            "write bit_plus(decimals => 2)",
        ),
        (
            "FLOAT",
            "",
            "bit_plus: 'x' is floating point, it has no last digit",
            "write bit_plus(decimals => 2)",
        ),
        (
            "DECIMAL(19,2)",
            "",
            "bit_plus cannot treat 'x' of type DECIMAL(19,2)",
            "cast it in a (SELECT …) source to BIGINT or to a DECIMAL of at most 18 digits",
        ),
        (
            "HUGEINT",
            "",
            "bit_plus cannot treat 'x' of type HUGEINT",
            "cast it in a (SELECT …) source to BIGINT or to a DECIMAL of at most 18 digits",
        ),
        (
            "UBIGINT",
            "",
            "bit_plus cannot treat 'x' of type UBIGINT",
            "cast it in a (SELECT …) source to BIGINT or to a DECIMAL of at most 18 digits",
        ),
        (
            "VARCHAR",
            "",
            "bit_plus cannot treat 'x' of type VARCHAR",
            "it treats integer, decimal, floating point columns; for categories write mapping()",
        ),
        ("INTEGER", "decimals => 2", "bit_plus: 'x' has its own decimals", None),
        ("DECIMAL(4,2)", "decimals => 2", "bit_plus: 'x' has its own decimals", None),
        (
            "DOUBLE",
            "decimals => 10",
            "bit_plus: 'decimals' must be a whole number from 0 to 9",
            None,
        ),
        (
            "DOUBLE",
            "decimals => 1.5",
            "bit_plus: 'decimals' must be a whole number from 0 to 9",
            None,
        ),
        ("INTEGER", "by => 2", "unknown argument 'by' of bit_plus", "arguments: decimals"),
    ],
)
def test_what_it_refuses(
    shared: Owner, type_: str, arguments: str, what: str, hint: str | None
) -> None:
    fill(shared, [], type_)
    with pytest.raises(TreatmentError) as caught:
        release(shared, arguments)
    assert (caught.value.what, caught.value.hint) == (what, hint)


def test_a_group_is_refused(shared: Owner) -> None:
    shared.execute("CREATE OR REPLACE TABLE t AS SELECT 1 AS x, 2 AS y")
    with pytest.raises(TreatmentError, match="bit_plus treats one column at a time"):
        shared.execute("CREATE OR REPLACE RELEASE r.t FROM t ((x, y) SENSITIVE AS bit_plus())")


def test_bit_minus_after_it_gives_the_values_back(shared: Owner) -> None:
    fill(shared, [*INCOMES, -987, 5], "INTEGER")
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t"
        " (id KEY AS keep(), x SENSITIVE AS bit_plus() THEN bit_minus())"
    )
    assert released(shared) == [*INCOMES, -987, 5]


def test_what_it_says_of_itself() -> None:
    plus = made("INTEGER")
    assert plus.exactness is Exactness.EXACT
    assert "no secret" in plus.undone_by
    assert plus.inverts
    assert plus.kernels


@pytest.mark.parametrize(
    ("type_", "arrow", "values"),
    [
        ("TINYINT", pa.int16(), [127, -128, 0, None]),
        ("UINTEGER", pa.int64(), [2**32 - 1, 10, 9, None]),
        ("BIGINT", pa.decimal128(38, 0), [LARGEST, SMALLEST, 10**18, 0, None]),
    ],
)
def test_the_owner_gets_integers_back(
    shared: Owner, type_: str, arrow: pa.DataType, values: list[int | None]
) -> None:
    outputs = pa.array(moved(shared, values, type_), arrow)
    (back,) = made(type_).invert([outputs], Drawn())
    assert [None if x is None else int(x) for x in back.to_pylist()] == values


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("DECIMAL(4,2)", ["0.05", "0.50", "-12.30", "99.99"]),
        ("DECIMAL(18,0)", ["999999999999999999", "-10"]),
        ("DECIMAL(18,2)", ["9999999999999999.99", "-1234567890123456.78"]),
        ("DECIMAL(18,18)", ["0.123456789012345678"]),
    ],
)
def test_the_owner_gets_decimals_back(shared: Owner, type_: str, values: list[str]) -> None:
    fill(shared, [*values, None], type_)
    release(shared)
    outputs = shared.sql("SELECT x FROM r.t ORDER BY id").to_arrow_table()["x"].combine_chunks()
    (back,) = made(type_).invert([outputs], Drawn())
    assert back.to_pylist() == [*map(Decimal, values), None]


def test_the_owner_gets_floating_point_back_rounded_to_its_decimals() -> None:
    y = pa.array([13.45, -13.45, 0.05, None, math.nan])
    (back,) = made("DOUBLE", 2).invert([y], Drawn())
    assert back.to_pylist() == [12.34, -12.34, 0.05, None, None]


def rewritten(type_: str, operator: str, literal: float, decimals: int | None = None) -> str | None:
    tree = made(type_, decimals).invert_condition(
        operator, literal, [exp.column("x", quoted=True)], Drawn()
    )
    return None if tree is None else to_sql(tree)


def chosen(owner: Owner, source: str, condition: str) -> list[int]:
    return [
        i for (i,) in owner.sql(f"SELECT id FROM {source} WHERE {condition} ORDER BY id").fetchall()
    ]


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">="])
def test_the_order_is_lost_so_only_equality_is_translated(operator: str) -> None:
    assert rewritten("INTEGER", operator, 12) is None


def test_a_text_is_not_translated() -> None:
    plus = made("INTEGER")
    assert plus.invert_condition("=", "12", [exp.column("x")], Drawn()) is None


def agree(
    owner: Owner, type_: str, literal: float, decimals: int | None = None
) -> tuple[bool, bool]:
    """Return whether `=` and `<>` are translated; fail where they choose other rows."""
    translated = []
    for operator in ("=", "<>"):
        condition = rewritten(type_, operator, literal, decimals)
        translated.append(condition is not None)
        if condition is not None:
            there = chosen(owner, "r.t", f"x {operator} {literal!r}")
            assert chosen(owner, "t", condition) == there, (operator, literal)
    return translated[0], translated[1]


@pytest.mark.parametrize(
    ("type_", "values", "literals"),
    [
        ("INTEGER", [127, -127, 5, 0, 10, None], [138, -138, 5, 0, 11, 77, -1]),
        ("BIGINT", [LARGEST, SMALLEST, 7], [9334483147965886918, -9334483147965886919, 7]),
        ("DECIMAL(4,2)", ["1.24", "-1.24", "0.05", "1.99"], [1.35, -1.35, 0.05, 2, 1]),
        ("DECIMAL(18,2)", ["1123456789012345.99"], [1234567890123456, 1234567890123457]),
    ],
)
def test_a_translated_equality_chooses_the_same_rows(
    shared: Owner, type_: str, values: list[object], literals: list[float]
) -> None:
    fill(shared, [12], type_)
    release(shared)
    add(shared, values, type_)
    for literal in literals:
        assert agree(shared, type_, literal) == (True, True)


@pytest.mark.parametrize(
    ("type_", "values", "literal"),
    [
        ("INTEGER", [127, 11], 138.4),
        ("INTEGER", [11, 127], 12.5),
        ("INTEGER", [11, 127], 10**19),
        ("BIGINT", [11, LARGEST], 10**25),
        ("BIGINT", [11, LARGEST], 1e300),
        ("DECIMAL(4,2)", ["1.24"], 1.354),
        ("DECIMAL(4,2)", ["1.24"], 135),
    ],
)
def test_an_equality_that_no_released_value_can_meet(
    shared: Owner, type_: str, values: list[object], literal: float
) -> None:
    fill(shared, values, type_)
    release(shared)
    agree(shared, type_, literal)


def test_an_equality_on_floating_point_means_all_values_that_round_to_it(shared: Owner) -> None:
    fill(shared, [1.24, 1.2351, 1.2449, 1.245, 1.25, -1.24, 11.5], "DOUBLE")
    release(shared, "decimals => 2")
    for literal in (1.35, -1.35, 1.36, 12.61, 9.9):
        agree(shared, "DOUBLE", literal, 2)
