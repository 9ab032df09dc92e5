"""translation() through releases: constants given and drawn, whole numbers, dates, the ends."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import BindError, TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.treatments.translation import Translation
from ppdm_sql.types import ColumnType
from tests.releases import version_of
from tests.session.treatments.one_table import add_rows, fill_rows, released

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

PEOPLE = [(29, 48), (38, 72), (34, 51), (43, 65), (42, 60), (48, 53)]
PRINTED = [(26, 53), (35, 77), (31, 56), (40, 70), (39, 65), (45, 58)]
LARGEST, SMALLEST = 2**63 - 1, -(2**63)
EXECUTIONS = ("native", "udf")
LOST = "cannot be computed (NaN, infinite or out of range)"
NO_KEYS = RootKey(b"\0" * 32)


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, rule: str, execution: str = "native", name: str = "r.t") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE {name} FROM t (id KEY AS keep(), {rule})"
        f" WITH (execution = '{execution}')"
    )


def types_of(owner: Owner) -> list[str]:
    return [str(type_) for type_ in owner.sql("SELECT * EXCLUDE (id) FROM r.t").types]


def stored(owner: Owner, name: str = "r.t") -> tuple[Translation, Drawn]:
    """Return the treatment of the release's second rule, and what it drew."""
    version = version_of(owner, name)
    bound = version.release
    step = bound.rules[1].steps[0]
    assert isinstance(step.treatment, Translation)
    return step.treatment, version.parameters[step.slot]


def made(type_: str = "DOUBLE", by: float | None = None) -> Translation:
    arguments = () if by is None else (Argument("by", by),)
    column = InputColumn(Name("x"), ColumnType(type_), "table:x")
    return Translation.from_call(TreatmentCall("translation", arguments), [column])


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_people_of_the_document(shared: Owner, execution: str) -> None:
    fill_rows(shared, PEOPLE, "INTEGER", "INTEGER")
    release(shared, "(c0, c1) SENSITIVE AS translation(by => [-3, 5])", execution)
    assert released(shared) == PRINTED
    assert types_of(shared) == ["BIGINT", "BIGINT"]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_its_security_level_is_zero(shared: Owner, execution: str) -> None:
    """Sec(x, y) = Var(x - y) / Var(x); a constant difference has no variance."""
    fill_rows(shared, PEOPLE, "DOUBLE", "DOUBLE")
    release(shared, "(c0, c1) SENSITIVE AS translation(by => [-3, 5])", execution)
    before, after = np.array(PEOPLE, dtype=float), np.array(released(shared))
    assert ((before - after).var(axis=0) / before.var(axis=0)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "by", "values", "expected", "becomes"),
    [
        ("TINYINT", "200", [127, -128], [327, 72], "BIGINT"),
        ("UINTEGER", "-7", [0, 2**32 - 1], [-7, 2**32 - 8], "BIGINT"),
        ("INTEGER", "4611686018427387903", [2**31 - 1], [2**62 + 2**31 - 2], "BIGINT"),
        ("BIGINT", "-1", [SMALLEST + 1, LARGEST], [SMALLEST, LARGEST - 1], "BIGINT"),
        ("BIGINT", "9007199254740993", [2], [9007199254740995], "BIGINT"),
        ("INTEGER", "5.0", [1], [6.0], "DOUBLE"),
        ("INTEGER", "0.5", [1], [1.5], "DOUBLE"),
        ("HUGEINT", "5", [7], [12.0], "DOUBLE"),
        ("UBIGINT", "5", [7], [12.0], "DOUBLE"),
        ("DECIMAL(10,2)", "5", ["1.25"], [6.25], "DOUBLE"),
        ("FLOAT", "1", [0.5], [1.5], "DOUBLE"),
        ("DOUBLE", "-2.5e3", [2500.25], [0.25], "DOUBLE"),
    ],
)
def test_whole_numbers_stay_whole_and_others_become_double(
    shared: Owner,
    execution: str,
    type_: str,
    by: str,
    values: list[object],
    expected: list[float],
    becomes: str,
) -> None:
    fill_rows(shared, [[value] for value in [*values, None]], type_)
    release(shared, f"c0 SENSITIVE AS translation(by => {by})", execution)
    found = released(shared)
    assert found == [*expected, None]
    assert types_of(shared) == [becomes]
    assert [type(x) for x in found[:-1]] == [int if becomes == "BIGINT" else float] * len(expected)


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_dates_and_times_move_by_days(shared: Owner, execution: str) -> None:
    rows = [
        (date(2020, 2, 28), datetime(2020, 2, 28, 23, 59, 59, 999999)),
        (date(1970, 1, 1), datetime(1970, 1, 1)),
        (date(1, 1, 2), datetime(1600, 12, 31, 12)),
        (None, None),
    ]
    fill_rows(shared, rows, "DATE", "TIMESTAMP")
    release(shared, "(c0, c1) SENSITIVE AS translation(by => [2, -366])", execution)
    assert released(shared) == [
        (
            None if day is None else day + timedelta(2),
            None if moment is None else moment - timedelta(366),
        )
        for day, moment in rows
    ]
    assert types_of(shared) == ["DATE", "TIMESTAMP"]


@pytest.mark.parametrize("type_", ["TIMESTAMP_S", "TIMESTAMP_MS"])
def test_timestamps_of_other_precisions_move_by_days(shared: Owner, type_: str) -> None:
    fill_rows(shared, [["2020-02-28 10:00:00"], [None]], type_)
    release(shared, "c0 SENSITIVE AS translation(by => 2)")
    found = [y for (y,) in shared.sql("SELECT c0::VARCHAR FROM r.t ORDER BY id").fetchall()]
    assert found == ["2020-03-01 10:00:00", None]
    assert types_of(shared) == [type_]


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "by", "wrong", "right"),
    [
        ("DOUBLE", "5", ["nan", "infinity", "-infinity", "1e300", "-1e300"], "1.5"),
        ("DATE", "5", ["infinity", "-infinity"], "2020-01-01"),
        ("TIMESTAMP", "5", ["infinity", "-infinity"], "2020-01-01"),
        ("BIGINT", "1", [LARGEST], "0"),
        ("BIGINT", "-1", [SMALLEST], "0"),
        ("BIGINT", "4611686018427387903", [LARGEST, 2**62 + 1], "0"),
    ],
)
def test_what_cannot_move_is_refused_at_creation_and_null_later(
    shared: Owner, execution: str, type_: str, by: str, wrong: list[object], right: str
) -> None:
    rule = f"c0 SENSITIVE AS translation(by => {by})"
    fill_rows(shared, [[right], *([value] for value in wrong)], type_)
    with pytest.raises(TreatmentError) as caught:
        release(shared, rule, execution)
    rows = "1 row" if len(wrong) == 1 else f"{len(wrong)} rows"
    assert caught.value.what == f"translation: {rows} of 'c0' {LOST}"
    assert caught.value.hint == "leave them out in a (SELECT …) source, or make them NULL there"
    fill_rows(shared, [[right]], type_)
    release(shared, rule, execution)
    add_rows(shared, [[value] for value in wrong], type_)
    first, *later = released(shared)
    assert first is not None
    assert later == [None] * len(wrong)


@pytest.mark.parametrize("by", ["", "by => 5"])
@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP"])
def test_infinite_dates_are_refused_when_the_constant_is_drawn_too(
    shared: Owner, type_: str, by: str
) -> None:
    fill_rows(shared, [["infinity"], ["-infinity"], ["2020-01-01"]], type_)
    with pytest.raises(TreatmentError, match="2 rows of 'c0' cannot be computed"):
        release(shared, f"c0 SENSITIVE AS translation({by})")


@pytest.mark.parametrize(
    ("types", "row"),
    [(("DOUBLE", "DOUBLE"), ("nan", None)), (("BIGINT", "BIGINT"), (LARGEST, None))],
    ids=["NaN", "overflow"],
)
def test_a_null_beside_it_does_not_hide_what_cannot_move(
    shared: Owner, types: tuple[str, str], row: tuple[object, object]
) -> None:
    fill_rows(shared, [(1, 2), row], *types)
    with pytest.raises(TreatmentError, match="cannot be computed"):
        release(shared, "(c0, c1) SENSITIVE AS translation(by => [5, 6])")


@pytest.mark.parametrize("type_", ["INTEGER", "BIGINT", "DOUBLE", "DECIMAL(9,2)", "DATE"])
def test_an_empty_table_can_be_released(shared: Owner, type_: str) -> None:
    fill_rows(shared, [], type_)
    release(shared, "c0 SENSITIVE AS translation()")
    assert released(shared) == []


def test_a_column_of_nulls_can_be_released(shared: Owner) -> None:
    fill_rows(shared, [(None, None), (None, None)], "INTEGER", "DATE")
    release(shared, "(c0, c1) SENSITIVE AS translation()")
    assert released(shared) == [(None, None)] * 2


def draws(owner: Owner, values: Sequence[object], type_: str, count: int) -> list[float]:
    """Measure a column once and draw many constants for it."""
    treatment = made(type_)
    aggregates = treatment.statistics([exp.column("x", quoted=True)])
    shown = ", ".join(f"{to_sql(tree)} AS {name}" for name, tree in aggregates.items())
    listed = ", ".join(f"({value!r}::{type_})" for value in values)
    (found,) = owner.sql(f"SELECT {shown} FROM (VALUES {listed}) AS t (x)").fetchall()
    statistics = dict(zip(aggregates, found, strict=True))
    drawn = (treatment.draw(statistics, NO_KEYS, None) for _ in range(count))
    return [
        one.parameters["by_0"] for one in drawn if isinstance(one.parameters["by_0"], int | float)
    ]


@pytest.mark.parametrize("spread", [1e-6, 1.0, 120.0, 3e9])
def test_drawn_constants_are_a_quarter_to_the_whole_of_the_spread(
    shared: Owner, spread: float
) -> None:
    """Of 2,000 draws none comes near 0; the limits below fail by chance once in 10^12 runs."""
    constants = np.array(draws(shared, [-spread / 2, 0.0, spread / 2], "DOUBLE", 2000)) / spread
    assert len(constants) == 2000
    assert (abs(constants) >= 0.25 - 1e-12).all()
    assert (abs(constants) <= 1 + 1e-12).all()
    assert len(np.unique(constants)) == 2000
    assert abs((constants > 0).mean() - 0.5) < 7.2 * math.sqrt(0.25 / 2000)
    assert abs(abs(constants).mean() - 0.625) < 7.2 * math.sqrt(0.75**2 / 12 / 2000)


@pytest.mark.parametrize(
    ("type_", "values", "most"),
    [
        ("INTEGER", [7, 7], 7),
        ("INTEGER", [0, 0], 1),
        ("INTEGER", [0, 1], 1),
        ("BIGINT", [-50, 50], 100),
        ("UTINYINT", [0, 255], 255),
        ("DATE", ["2020-01-01", "2020-01-02"], 1),
        ("DATE", ["2020-01-01", "2020-04-10"], 100),
        ("TIMESTAMP", ["2020-01-01 10:00:00", "2020-04-10 11:00:00"], 100),
    ],
)
def test_drawn_constants_of_whole_columns_are_whole_and_never_zero(
    shared: Owner, type_: str, values: list[object], most: int
) -> None:
    constants = draws(shared, values, type_, 300)
    assert len(constants) == 300
    assert all(isinstance(by, int) for by in constants)
    assert min(map(abs, constants)) >= 1
    assert max(map(abs, constants)) <= most
    assert min(constants) < 0 < max(constants), "up or down (fails once in 10^90 runs)"


def test_a_drawn_constant_fits_the_column(shared: Owner) -> None:
    fill_rows(
        shared, [(10, 1e6, "2020-01-01"), (110, 3e6, "2021-01-01")], "INTEGER", "DOUBLE", "DATE"
    )
    release(shared, "(c0, c1, c2) SENSITIVE AS translation()")
    _, drawn = stored(shared)
    by = [drawn.parameters[f"by_{at}"] for at in range(3)]
    assert 25 <= abs(float(by[0])) <= 100
    assert 5e5 <= abs(float(by[1])) <= 2e6
    assert 91 <= abs(float(by[2])) <= 366
    assert released(shared)[0] == (
        10 + int(by[0]),
        1e6 + float(by[1]),
        date(2020, 1, 1) + timedelta(int(by[2])),
    )


@pytest.mark.parametrize(
    "values",
    [[SMALLEST, LARGEST], [0, LARGEST], [SMALLEST, 0], [1, LARGEST - 10], [LARGEST, LARGEST]],
)
def test_a_drawn_constant_never_pushes_a_bigint_over_its_end(
    shared: Owner, values: list[int]
) -> None:
    """The owner gave no constant, so whether a release can be made must not depend on the draw.

    A column that fills BIGINT has no constant at all: then the refusal must say so.
    """
    fill_rows(shared, [[value] for value in values], "BIGINT")
    for _ in range(6):
        try:
            release(shared, "c0 SENSITIVE AS translation()")
        except TreatmentError:
            assert values == [SMALLEST, LARGEST]
        else:
            by = int(stored(shared)[1].parameters["by_0"])
            assert by != 0
            assert released(shared) == [value + by for value in values]


@pytest.mark.parametrize("value", [1e17, -3e20, 1e290])
def test_a_drawn_constant_moves_a_constant_column(shared: Owner, value: float) -> None:
    fill_rows(shared, [[value], [value]], "DOUBLE")
    release(shared, "c0 SENSITIVE AS translation()")
    assert value not in released(shared)


def test_a_refresh_keeps_the_constants_and_another_release_draws_its_own(shared: Owner) -> None:
    fill_rows(shared, [(1, 0.5), (1000, 7000.25)], "INTEGER", "DOUBLE")
    rule = "(c0, c1) SENSITIVE AS translation()"
    release(shared, rule)
    release(shared, rule, name="r.other")
    first, drawn = released(shared), stored(shared)[1].parameters
    shared.execute("UPDATE t SET c0 = c0 * 1000 WHERE id = 1; REFRESH RELEASE r.t")
    assert stored(shared)[1].parameters == drawn
    assert released(shared)[0] == first[0]
    assert stored(shared, "r.other")[1].parameters != drawn
    shared.execute("UPDATE t SET c0 = 1000 WHERE id = 1")
    release(shared, rule)
    assert stored(shared)[1].parameters != drawn, "OR REPLACE is a new release"


@pytest.mark.parametrize(
    ("type_", "becomes"),
    [("DOUBLE", "BIGINT"), ("DOUBLE", "INTEGER"), ("BIGINT", "DOUBLE"), ("INTEGER", "BIGINT")],
)
def test_a_refresh_after_the_column_changed_its_type_says_what_to_write(
    shared: Owner, type_: str, becomes: str
) -> None:
    fill_rows(shared, [[12], [25]], type_)
    release(shared, "c0 SENSITIVE AS translation(by => 5)")
    shared.execute(f"ALTER TABLE t ALTER c0 TYPE {becomes}")
    with pytest.raises(BindError, match=f"was {type_} and is {becomes} now") as caught:
        shared.execute("REFRESH RELEASE r.t")
    assert "CREATE OR REPLACE RELEASE" in (caught.value.hint or "")


def test_no_constant_is_told(shared: Owner) -> None:
    fill_rows(shared, [(1, 0.5), (1000, 7000.25)], "INTEGER", "DOUBLE")
    release(shared, "(c0, c1) SENSITIVE AS translation(by => [7654321, 0.123456789])")
    given = ("7654321", "0.123456789")
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr(stored(shared))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told for constant in given if constant in text]
    release(shared, "(c0, c1) SENSITIVE AS translation()")
    constants = [repr(value) for value in stored(shared)[1].parameters.values()]
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr(stored(shared))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told for constant in constants if constant in text]


@pytest.mark.parametrize(
    ("types", "arguments", "what"),
    [
        (["INTEGER"], "by => 0", "translation: a translation by 0 changes nothing"),
        (["DOUBLE"], "by => 0.0", "translation: a translation by 0 changes nothing"),
        (["DOUBLE"] * 2, "by => [1, 0]", "translation: a translation by 0 changes nothing"),
        (["DOUBLE"] * 2, "by => [1, 2, 3]", "translation: 3 numbers for 2 places"),
        (["DOUBLE"], "by => []", "translation: 0 numbers for 1 place"),
        (["DOUBLE"], "by => 'five'", "translation: 'by' must be a number, or a list of 1"),
        (["DOUBLE"], "by => true", "translation: 'by' must be a number, or a list of 1"),
        (["DOUBLE"], "by => 4611686018427387904", "translation: 'by' is too large"),
        (["DOUBLE"], "by => -1e19", "translation: 'by' is too large"),
        (["DATE"], "by => 1.5", "translation: 'c0' moves by whole days, at most 1,000,000"),
        (["DATE"], "by => 1000001", "translation: 'c0' moves by whole days, at most 1,000,000"),
        (["VARCHAR"], "by => 1", "translation cannot treat 'c0' of type VARCHAR"),
        (["BOOLEAN"], "by => 1", "translation cannot treat 'c0' of type BOOLEAN"),
        (["TIME"], "by => 1", "translation cannot treat 'c0' of type TIME"),
        (
            ["TIMESTAMPTZ"],  # its days depend on who asks
            "by => 1",
            "translation cannot treat 'c0' of type TIMESTAMP WITH TIME ZONE",
        ),
        (["DOUBLE", "VARCHAR"], "", "translation cannot treat 'c1' of type VARCHAR"),
        (["DOUBLE"], "days => 1", "unknown argument 'days' of translation"),
    ],
)
def test_what_it_refuses(shared: Owner, types: list[str], arguments: str, what: str) -> None:
    fill_rows(shared, [], *types)
    columns = ", ".join(f"c{at}" for at in range(len(types)))
    with pytest.raises(TreatmentError) as caught:
        release(shared, f"({columns}) SENSITIVE AS translation({arguments})")
    assert caught.value.what == what


def test_what_it_says_of_itself() -> None:
    assert Translation.exactness is Exactness.NEAR
    assert "one known value" in Translation.undone_by
    assert "5.25" not in repr(made(by=5.25))


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("DATE", ["2020-02-29", "0001-01-02"]),
        ("TIMESTAMP", ["2020-02-29 12:34:56.789012", "0001-01-02"]),
        ("TIMESTAMP_S", ["2020-02-29 12:34:56", "0001-01-02"]),
        ("TIMESTAMP_MS", ["2020-02-29 12:34:56.789", "0001-01-02"]),
    ],
)
def test_the_owner_gets_times_back(shared: Owner, type_: str, values: list[str]) -> None:
    fill_rows(shared, [*([value] for value in values), [None]], type_)
    release(shared, "c0 SENSITIVE AS translation(by => 10000)")
    moved = shared.sql("SELECT c0 FROM r.t ORDER BY id").to_arrow_table()["c0"].combine_chunks()
    original = shared.sql("SELECT c0 FROM t ORDER BY id").to_arrow_table()["c0"].combine_chunks()
    treatment, drawn = stored(shared)
    (back,) = treatment.invert([moved], drawn)
    assert back == original


def test_the_owner_gets_whole_numbers_back_exactly() -> None:
    treatment = made("BIGINT", 4611686018427387903)
    drawn = treatment.draw({}, NO_KEYS, None)
    y = pa.array([LARGEST, 2**62 - 1, None])
    assert treatment.invert([y], drawn)[0].to_pylist() == [2**62, 0, None]


def test_after_it_the_numbers_can_be_graded(shared: Owner) -> None:
    fill_rows(shared, [[x] for x in range(11)], "INTEGER")
    release(shared, "c0 SENSITIVE AS translation() THEN graded_grouping(bands => 5)")
    assert released(shared) == pytest.approx([1 + x / 2 for x in range(10)] + [5.999])


def test_decimals_are_read_as_the_nearest_double(shared: Owner) -> None:
    fill_rows(shared, [[Decimal("0.10")], [Decimal("-99999999.99")]], "DECIMAL(10,2)")
    release(shared, "c0 SENSITIVE AS translation(by => 0.2)")
    assert released(shared) == [0.1 + 0.2, -99999999.99 + 0.2]
