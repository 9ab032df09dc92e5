"""scaling() through releases: factors given and drawn, what they leave, what is refused."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.randomness.draws import Draws
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.affine import draw_factor
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.treatments.scaling import Scaling
from ppdm_sql.types import ColumnType
from tests.releases import version_of
from tests.session.treatments.one_table import fill_rows, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

PEOPLE = [(29, 48), (38, 72), (34, 51), (43, 65), (42, 60), (48, 53)]
AGES = [27.26, 35.72, 31.96, 40.42, 39.48, 45.12]
SALARIES = [49.68, 74.52, 52.785, 67.275, 62.1, 54.855]
EXECUTIONS = ("native", "udf")
DRAWS = 4000


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, rule: str, execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), {rule})"
        f" WITH (execution = '{execution}')"
    )


def stored(owner: Owner) -> tuple[Scaling, Drawn]:
    """Return the treatment of the release's second rule, and what it drew."""
    version = version_of(owner, "r.t")
    bound = version.release
    step = bound.rules[1].steps[0]
    assert isinstance(step.treatment, Scaling)
    return step.treatment, version.parameters[step.slot]


def made(by: float | None = None) -> Scaling:
    arguments = () if by is None else (Argument("by", by),)
    column = InputColumn(Name("x"), ColumnType("DOUBLE"), "table:x")
    return Scaling.from_call(TreatmentCall("scaling", arguments), [column])


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("type_", ["INTEGER", "DOUBLE", "DECIMAL(5,1)"])
def test_the_people_of_the_document_without_its_misprint(
    shared: Owner, type_: str, execution: str
) -> None:
    fill_rows(shared, PEOPLE, type_, type_)
    release(shared, "(c0, c1) SENSITIVE AS scaling(by => [0.94, 1.035])", execution)
    ages, salaries = (list(column) for column in zip(*released(shared), strict=True))
    assert ages == pytest.approx(AGES, rel=1e-14)
    assert salaries == pytest.approx(SALARIES, rel=1e-14)
    assert round(ages[1]) != 35, "the document prints 35 for 35.72"
    assert [str(t) for t in shared.sql("FROM r.t").types] == ["INTEGER", "DOUBLE", "DOUBLE"]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_security_level_of_the_document(shared: Owner, execution: str) -> None:
    """Sec(x, y) = Var(x - y) / Var(x) = (1 - e)², whatever the data."""
    fill_rows(shared, PEOPLE, "DOUBLE", "DOUBLE")
    release(shared, "(c0, c1) SENSITIVE AS scaling(by => [0.93, 0.89])", execution)
    before, after = np.array(PEOPLE, dtype=float), np.array(released(shared))
    level = (before - after).var(axis=0) / before.var(axis=0)
    assert level == pytest.approx([0.0049, 0.0121], rel=1e-12)
    assert [f"{part:.2%}" for part in level] == ["0.49%", "1.21%"]


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    ("type_", "value", "by", "expected"),
    [
        ("TINYINT", -128, "3", -384.0),
        ("BIGINT", 2**53, "0.5", 2.0**52),
        ("HUGEINT", 10**30, "2", 2e30),
        ("UHUGEINT", 2**127, "2", 2.0**128),
        ("DECIMAL(38,2)", "12.25", "4", 49.0),
        ("FLOAT", 0.5, "-3", -1.5),
        ("DOUBLE", -0.0, "5", 0.0),
        ("DOUBLE", 9e299, "1e6", 9e305),
        ("DOUBLE", 1e-320, "0.000001", 0.0),
    ],
)
def test_numbers_of_every_type(
    shared: Owner, execution: str, type_: str, value: object, by: str, expected: float
) -> None:
    fill_rows(shared, [[value], [None]], type_)
    release(shared, f"c0 SENSITIVE AS scaling(by => {by})", execution)
    assert released(shared) == [expected, None]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_what_cannot_be_scaled_is_refused_at_creation_and_null_later(
    shared: Owner, execution: str
) -> None:
    wrong = ["nan", "infinity", "-infinity", "1e300", "-1.7e308"]
    fill_rows(shared, [["1.5"], *([x] for x in wrong)], "DOUBLE")
    with pytest.raises(TreatmentError) as caught:
        release(shared, "c0 SENSITIVE AS scaling(by => 2)", execution)
    assert caught.value.what == (
        "scaling: 5 rows of 'c0' cannot be computed (NaN, infinite or out of range)"
    )
    shared.execute("CREATE TABLE wrong AS FROM t WHERE id > 0; DELETE FROM t WHERE id > 0")
    release(shared, "c0 SENSITIVE AS scaling(by => 2)", execution)
    shared.execute("INSERT INTO t FROM wrong; DROP TABLE wrong")
    assert released(shared) == [3.0, *[None] * 5]


def test_a_null_beside_it_does_not_hide_what_cannot_be_scaled(shared: Owner) -> None:
    fill_rows(shared, [(1, 2), ("infinity", None)], "DOUBLE", "DOUBLE")
    with pytest.raises(TreatmentError, match="cannot be computed"):
        release(shared, "(c0, c1) SENSITIVE AS scaling(by => 2)")


def test_an_empty_table_can_be_released(shared: Owner) -> None:
    fill_rows(shared, [], "INTEGER")
    release(shared, "c0 SENSITIVE AS scaling()")
    assert released(shared) == []


def test_drawn_factors_shrink_or_grow_enough_to_matter() -> None:
    """The limits fail by chance once in 10^12 runs."""
    factors = np.array([draw_factor(Draws()) for _ in range(DRAWS)])
    grows = factors > 1
    assert ((factors[grows] >= 1.25) & (factors[grows] <= 4)).all()
    assert ((factors[~grows] >= 0.25) & (factors[~grows] <= 0.8)).all()
    assert abs(grows.mean() - 0.5) < 7.2 * math.sqrt(0.25 / DRAWS)
    assert abs(factors[grows].mean() - 2.625) < 7.2 * math.sqrt(2.75**2 / 12 / grows.sum())
    assert len(np.unique(factors)) == DRAWS


def test_factors_are_drawn_for_each_column_kept_by_a_refresh_and_told_to_nobody(
    shared: Owner,
) -> None:
    fill_rows(shared, [(1, 1), (2, 2)], "INTEGER", "INTEGER")
    release(shared, "(c0, c1) SENSITIVE AS scaling()")
    treatment, drawn = stored(shared)
    by = [drawn.parameters["by_0"], drawn.parameters["by_1"]]
    assert by[0] != by[1]
    assert released(shared)[0] == tuple(by)
    shared.execute("REFRESH RELEASE r.t")
    assert stored(shared)[1].parameters == drawn.parameters
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr((treatment, drawn))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told for factor in by if repr(factor) in text]
    release(shared, "(c0, c1) SENSITIVE AS scaling()")
    assert stored(shared)[1].parameters != drawn.parameters


def test_a_given_factor_is_not_told_either(shared: Owner) -> None:
    fill_rows(shared, [[1]], "INTEGER")
    release(shared, "c0 SENSITIVE AS scaling(by => 0.123456789)")
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr(stored(shared))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told if "0.123456789" in text]


@pytest.mark.parametrize(
    ("types", "arguments", "what"),
    [
        (["DOUBLE"], "by => 1", "scaling: a scaling by 1 changes nothing"),
        (["DOUBLE"], "by => 1.0", "scaling: a scaling by 1 changes nothing"),
        (["DOUBLE"] * 2, "by => [2, 1]", "scaling: a scaling by 1 changes nothing"),
        (["DOUBLE"], "by => 0", "scaling: a factor must lie between 1e-06 and 1e+06"),
        (["DOUBLE"], "by => 0.0000009", "scaling: a factor must lie between 1e-06 and 1e+06"),
        (["DOUBLE"], "by => -1000001", "scaling: a factor must lie between 1e-06 and 1e+06"),
        (["DOUBLE"] * 3, "by => [2, 3]", "scaling: 2 numbers for 3 places"),
        (["DOUBLE"], "by => '2'", "scaling: 'by' must be a number, or a list of 1"),
        (["DOUBLE"], "by => [[2]]", "scaling: 'by' must be a number, or a list of 1"),
        (["VARCHAR"], "by => 2", "scaling cannot treat 'c0' of type VARCHAR"),
        (["DATE"], "by => 2", "scaling cannot treat 'c0' of type DATE"),
        (["INTEGER[]"], "by => 2", "scaling cannot treat 'c0' of type INTEGER[]"),
        (["DOUBLE"], "factor => 2", "unknown argument 'factor' of scaling"),
    ],
)
def test_what_it_refuses(shared: Owner, types: list[str], arguments: str, what: str) -> None:
    fill_rows(shared, [], *types)
    columns = ", ".join(f"c{at}" for at in range(len(types)))
    with pytest.raises(TreatmentError) as caught:
        release(shared, f"({columns}) SENSITIVE AS scaling({arguments})")
    assert caught.value.what == what


def test_what_it_says_of_itself() -> None:
    assert Scaling.exactness is Exactness.NEAR
    assert "one known value" in Scaling.undone_by
    assert "5.25" not in repr(made(5.25))


def test_the_owner_divides() -> None:
    treatment = made(4.0)
    drawn = treatment.draw({}, RootKey(b"\0" * 32), None)
    assert treatment.invert([pa.array([10.0, -1.0, None])], drawn)[0].to_pylist() == [
        2.5,
        -0.25,
        None,
    ]


@pytest.mark.parametrize("by", [4.0, -4.0])
@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
def test_a_negative_factor_turns_a_comparison_round(
    shared: Owner, by: float, operator: str
) -> None:
    treatment = made(by)
    drawn = treatment.draw({}, RootKey(b"\0" * 32), None)
    tree = treatment.invert_condition(operator, 10, [exp.column("x", quoted=True)], drawn)
    assert tree is not None
    query = (
        f"SELECT x * {by} {operator} 10, {to_sql(tree)}"
        " FROM (VALUES (-3.0), (-2.5), (0.0), (2.5), (3.0)) AS t (x)"
    )
    for there, here in shared.sql(query).fetchall():
        assert there == here


def test_texts_and_other_operators_are_not_translated() -> None:
    treatment, columns = made(2.0), [exp.column("x")]
    drawn = treatment.draw({}, RootKey(b"\0" * 32), None)
    assert treatment.invert_condition("=", "ten", columns, drawn) is None
    assert treatment.invert_condition("LIKE", 10, columns, drawn) is None


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_after_it_the_numbers_can_be_graded(shared: Owner, execution: str) -> None:
    fill_rows(shared, [[x] for x in range(11)], "INTEGER")
    release(shared, "c0 SENSITIVE AS scaling() THEN graded_grouping(bands => 5)", execution)
    assert released(shared) == pytest.approx([1 + x / 2 for x in range(10)] + [5.999])
