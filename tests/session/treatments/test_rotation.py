"""rotation() through releases: pairs, chains of pairs, angles given and drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import Argument, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.randomness.draws import Draws
from ppdm_sql.release.model import FORMULA
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.affine import draw_angle
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.treatments.rotation import Rotation
from ppdm_sql.types import ColumnType
from tests.releases import version_of
from tests.session.treatments.one_table import fill_rows, released

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ppdm_sql.owner import Owner
    from ppdm_sql.parameters import Drawn

PEOPLE = [(29, 48), (38, 72), (34, 51), (43, 65), (42, 60), (48, 53)]
TURNED = [
    (39.543, 39.766),
    (53.971, 60.952),
    (45.111, 41.497),
    (57.171, 52.967),
    (55.015, 48.346),
    (59.187, 40.124),
]
EXECUTIONS = ("native", "udf")
DRAWS = 4000


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def columns(count: int) -> str:
    return "(" + ", ".join(f"c{at}" for at in range(count)) + ")"


def release(owner: Owner, rule: str, execution: str = "native") -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), {rule})"
        f" WITH (execution = '{execution}')"
    )


def stored(owner: Owner) -> tuple[Rotation, Drawn]:
    """Return the treatment of the release's second rule, and what it drew."""
    version = version_of(owner, "r.t")
    bound = version.release
    step = bound.rules[1].steps[0]
    assert isinstance(step.treatment, Rotation)
    return step.treatment, version.parameters[step.slot]


def made(count: int, degrees: tuple[float, ...] | None = None) -> Rotation:
    arguments = () if degrees is None else (Argument("degrees", degrees),)
    inputs = [
        InputColumn(Name(f"c{at}"), ColumnType("DOUBLE"), f"table:c{at}") for at in range(count)
    ]
    return Rotation.from_call(TreatmentCall("rotation", arguments), inputs)


def by_hand(
    points: npt.NDArray[np.float64], pairs: Sequence[tuple[int, int]], degrees: Sequence[float]
) -> npt.NDArray[np.float64]:
    """Turn pairs of columns clockwise, one pair after the other."""
    turned = points.copy()
    for (i, j), angle in zip(pairs, degrees, strict=True):
        theta = np.radians(angle)
        x, y = turned[:, i].copy(), turned[:, j].copy()
        turned[:, i] = x * np.cos(theta) + y * np.sin(theta)
        turned[:, j] = -x * np.sin(theta) + y * np.cos(theta)
    return turned


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("type_", ["INTEGER", "DOUBLE", "DECIMAL(4,1)"])
def test_the_people_of_the_document_without_its_misprint(
    shared: Owner, type_: str, execution: str
) -> None:
    fill_rows(shared, PEOPLE, type_, type_)
    release(shared, "(c0, c1) SENSITIVE AS rotation(degrees => 13.7)", execution)
    rounded = [(round(x, 3), round(y, 3)) for x, y in released(shared)]
    assert rounded == TURNED
    assert rounded[4][1] != 48.354, "the document prints 48,354 for 48,346"
    assert [str(t) for t in shared.sql("FROM r.t").types] == ["INTEGER", "DOUBLE", "DOUBLE"]


NEIGHBOURS = [
    (3, [(0, 1), (0, 2)]),
    (4, [(0, 1), (2, 3)]),
    (5, [(0, 1), (2, 3), (0, 4)]),
    (7, [(0, 1), (2, 3), (4, 5), (0, 6)]),
]
EVERY_TWO = [
    (2, [(0, 1)]),
    (3, [(0, 1), (0, 2), (1, 2)]),
    (4, [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
]


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(("count", "pairs"), EVERY_TWO + NEIGHBOURS)
def test_every_two_columns_are_turned_or_neighbours_where_no_more_angles_are_given(
    shared: Owner, execution: str, count: int, pairs: list[tuple[int, int]]
) -> None:
    assert {at for pair in pairs for at in pair} == set(range(count))
    angles = [13.7, -200.0, 61.25, 333.0, 44.0, 100.0][: len(pairs)]
    assert made(count, tuple(angles)).pairs(FORMULA) == tuple(pairs)
    points = np.random.default_rng(count).normal(0, 50, (20, count))
    fill_rows(shared, points.tolist(), *["DOUBLE"] * count)
    release(shared, f"{columns(count)} SENSITIVE AS rotation(degrees => {angles})", execution)
    expected = by_hand(points, pairs, angles)
    assert np.array(released(shared)) == pytest.approx(expected, rel=1e-12, abs=1e-11)


@pytest.mark.parametrize(("count", "pairs"), [(2, [(0, 1)]), *NEIGHBOURS])
def test_versions_of_earlier_formulas_turn_neighbours(
    count: int, pairs: list[tuple[int, int]]
) -> None:
    treatment = made(count)
    assert treatment.pairs(4) == tuple(pairs)
    drawn = treatment.draw({}, RootKey(b"\0" * 32, formula=4), None)
    assert len(drawn.parameters) == 3 * len(pairs)
    weights = np.array([treatment.row(drawn, at)[0] for at in range(count)])
    angles = [drawn.number(f"degrees_{at}") for at in range(len(pairs))]
    expected = by_hand(np.eye(count), pairs, angles)
    assert expected == pytest.approx(weights.T)
    points = np.random.default_rng(0).normal(size=(5, count))
    back = treatment.invert([pa.array(column) for column in (points @ weights.T).T], drawn)
    found = np.array([column.to_numpy() for column in back]).T
    assert found == pytest.approx(points)


def test_one_angle_serves_every_pair(shared: Owner) -> None:
    points = np.array([(1.0, 2.0, 3.0, 4.0)])
    fill_rows(shared, points.tolist(), *["DOUBLE"] * 4)
    release(shared, f"{columns(4)} SENSITIVE AS rotation(degrees => 30)")
    expected = by_hand(points, EVERY_TWO[2][1], [30] * 6)
    assert np.array(released(shared)) == pytest.approx(expected)


def test_no_drawn_column_is_made_of_few(shared: Owner) -> None:
    """Whoever knows two rows of five columns knows no weight: each is made of all the others."""
    for _ in range(50):
        treatment = made(5)
        drawn = treatment.draw({}, RootKey(b"\0" * 32, formula=FORMULA), None)
        weights = np.array([treatment.row(drawn, at)[0] for at in range(5)])
        assert (weights != 0).sum() >= 20
        assert weights @ weights.T == pytest.approx(np.eye(5))


def test_distances_between_rows_are_kept(shared: Owner) -> None:
    points = np.random.default_rng(0).normal(0, 10, (30, 5))
    fill_rows(shared, points.tolist(), *["DOUBLE"] * 5)
    release(shared, f"{columns(5)} SENSITIVE AS rotation()")
    turned = np.array(released(shared))
    before = np.linalg.norm(points[:, None] - points[None], axis=2)
    after = np.linalg.norm(turned[:, None] - turned[None], axis=2)
    assert after == pytest.approx(before, rel=1e-12, abs=1e-12)
    assert not np.isclose(turned, points).any(axis=0).all(), "every column was turned"


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_missing_partner_leaves_nothing_of_its_pair_only(shared: Owner, execution: str) -> None:
    fill_rows(shared, [(1, None, 3, 4), (None, 2, 3, 4), (1, 2, 3, None)], *["DOUBLE"] * 4)
    release(shared, f"{columns(4)} SENSITIVE AS rotation(degrees => [30, 40])", execution)
    missing = [[value is None for value in row] for row in released(shared)]
    assert missing == [
        [True, True, False, False],
        [True, True, False, False],
        [False, False, True, True],
    ]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_missing_partner_of_a_chain_reaches_the_columns_it_is_mixed_into(
    shared: Owner, execution: str
) -> None:
    fill_rows(shared, [(1, None, 3), (1, 2, None)], *["DOUBLE"] * 3)
    release(shared, f"{columns(3)} SENSITIVE AS rotation(degrees => [30, 40])", execution)
    missing = [[value is None for value in row] for row in released(shared)]
    assert missing == [[True, True, True], [True, False, True]]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_what_cannot_be_turned_is_refused_at_creation_and_null_later(
    shared: Owner, execution: str
) -> None:
    rule = "(c0, c1) SENSITIVE AS rotation(degrees => 30)"
    wrong = [("nan", 1), (1, "infinity"), ("-infinity", 1), (1, 1e300)]
    fill_rows(shared, [(1, 2), *wrong], "DOUBLE", "DOUBLE")
    with pytest.raises(TreatmentError) as caught:
        release(shared, rule, execution)
    assert caught.value.what == (
        "rotation: 4 rows of 'c0, c1' cannot be computed (NaN, infinite or out of range)"
    )
    shared.execute("CREATE TABLE wrong AS FROM t WHERE id > 0; DELETE FROM t WHERE id > 0")
    release(shared, rule, execution)
    shared.execute("INSERT INTO t FROM wrong; DROP TABLE wrong")
    assert released(shared)[1:] == [(None, None)] * 4


def test_a_null_in_another_pair_does_not_hide_what_cannot_be_turned(shared: Owner) -> None:
    fill_rows(shared, [(1, 2, 3, 4), ("nan", 2, 3, None)], *["DOUBLE"] * 4)
    with pytest.raises(TreatmentError, match="cannot be computed"):
        release(shared, f"{columns(4)} SENSITIVE AS rotation(degrees => 30)")


@pytest.mark.parametrize("count", [2, 3, 5])
def test_the_largest_numbers_are_turned_alike_by_both_executions(shared: Owner, count: int) -> None:
    fill_rows(shared, [[9.9e299] * count], *["DOUBLE"] * count)
    rule = f"{columns(count)} SENSITIVE AS rotation(degrees => 40)"
    release(shared, rule)
    native = released(shared)
    release(shared, rule, "udf")
    assert released(shared) == native


def test_an_empty_table_can_be_released(shared: Owner) -> None:
    fill_rows(shared, [], "DOUBLE", "INTEGER")
    release(shared, "(c0, c1) SENSITIVE AS rotation()")
    assert released(shared) == []


def test_drawn_angles_keep_away_from_multiples_of_90() -> None:
    """Ten degrees on each side; all four quadrants (chance of failure below 10^-12)."""
    angles = np.array([draw_angle(Draws()) for _ in range(DRAWS)])
    assert ((angles >= 0) & (angles < 360)).all()
    assert ((angles % 90 >= 10) & (angles % 90 <= 80)).all()
    shares = np.bincount((angles // 90).astype(int), minlength=4) / DRAWS
    assert (abs(shares - 0.25) < 7.2 * math.sqrt(0.25 * 0.75 / DRAWS)).all()
    assert abs((angles % 90).mean() - 45) < 7.2 * 70 / math.sqrt(12 * DRAWS)
    assert len(np.unique(angles)) == DRAWS


def test_angles_are_drawn_for_each_pair_kept_by_a_refresh_and_told_to_nobody(
    shared: Owner,
) -> None:
    fill_rows(shared, [(1, 2, 3, 4)], *["DOUBLE"] * 4)
    rule = f"{columns(4)} SENSITIVE AS rotation()"
    release(shared, rule)
    first, (treatment, drawn) = released(shared), stored(shared)
    assert drawn.parameters["degrees_0"] != drawn.parameters["degrees_1"]
    shared.execute("REFRESH RELEASE r.t")
    assert stored(shared)[1].parameters == drawn.parameters
    assert released(shared) == first
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr((treatment, drawn))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    secrets = [repr(value) for value in drawn.parameters.values()]
    assert not [text for text in told for secret in secrets if secret in text]
    release(shared, rule)
    assert stored(shared)[1].parameters != drawn.parameters


def test_a_given_angle_is_not_told_either(shared: Owner) -> None:
    fill_rows(shared, [(1, 2)], "DOUBLE", "DOUBLE")
    release(shared, "(c0, c1) SENSITIVE AS rotation(degrees => 12.3456789)")
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr(stored(shared))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    assert not [text for text in told if "12.3456789" in text]


SWAPS = "rotation: a rotation by a multiple of 90 degrees only swaps columns and signs"


@pytest.mark.parametrize(
    ("types", "arguments", "what"),
    [
        (["DOUBLE"], "", "rotation treats two or more columns together"),
        (["DOUBLE"], "degrees => 30", "rotation treats two or more columns together"),
        (["DOUBLE"] * 2, "degrees => 90", SWAPS),
        (["DOUBLE"] * 2, "degrees => 0", SWAPS),
        (["DOUBLE"] * 2, "degrees => -270.0", SWAPS),
        (["DOUBLE"] * 2, "degrees => 360", SWAPS),
        (["DOUBLE"] * 4, "degrees => [30, 180]", SWAPS),
        (["DOUBLE"] * 2, "degrees => [30, 40]", "rotation: 2 angles for 1 pair of columns"),
        (["DOUBLE"] * 5, "degrees => [30, 40]", "rotation: 2 angles for 10 pairs of columns"),
        (["DOUBLE"] * 2, "degrees => 'x'", "rotation: 'degrees' must be a number, or a list of 1"),
        (["DOUBLE", "VARCHAR"], "", "rotation cannot treat 'c1' of type VARCHAR"),
        (["DATE", "DATE"], "", "rotation cannot treat 'c0' of type DATE"),
        (["DOUBLE"] * 2, "angle => 3", "unknown argument 'angle' of rotation"),
    ],
)
def test_what_it_refuses(shared: Owner, types: list[str], arguments: str, what: str) -> None:
    fill_rows(shared, [], *types)
    with pytest.raises(TreatmentError) as caught:
        release(shared, f"{columns(len(types))} SENSITIVE AS rotation({arguments})")
    assert caught.value.what == what


def test_what_it_says_of_itself() -> None:
    assert Rotation.exactness is Exactness.NEAR
    assert "distances between rows are kept" in Rotation.undone_by
    assert "13.7" not in repr(made(2, (13.7,)))


def test_a_text_or_an_unknown_operator_is_not_translated() -> None:
    treatment = made(2, (13.7,))
    drawn = treatment.draw({}, RootKey(b"\0" * 32), None)
    both = [exp.column("c0"), exp.column("c1")]
    assert treatment.invert_condition("=", "x", both, drawn) is None
    assert treatment.invert_condition("IN", 1, both, drawn) is None


@pytest.mark.filterwarnings("ignore:noise. the values of:ppdm_sql.errors.PrivacyWarning")
def test_after_it_a_share_of_the_rows_gets_noise(shared: Owner) -> None:
    """`rotation(…) THEN noise(…, rho => 5)`, as the design shows it."""
    shared.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS id, (i % 97)::DOUBLE AS c0,"
        " (i % 89)::DOUBLE AS c1 FROM range(4000) AS r (i);"
        "CREATE OR REPLACE RELEASE r.turned FROM t"
        " (id KEY AS keep(), (c0, c1) SENSITIVE AS rotation(degrees => 13.7));"
        "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), (c0, c1) SENSITIVE AS"
        " rotation(degrees => 13.7) THEN noise(uniform(-12, 18), normal(15000, 379.5), rho => 5))"
    )
    turned = np.array(shared.sql("FROM r.turned ORDER BY id").fetchall())[:, 1:]
    after = np.array(shared.sql("FROM r.t ORDER BY id").fetchall())[:, 1:]
    moved = after != turned
    assert (moved[:, 0] == moved[:, 1]).all(), "the same rows in both columns"
    share = moved[:, 0].mean()
    # Five standard deviations: fails by chance once in 1.7 million stores.
    assert abs(share - 0.05) < 5 * math.sqrt(0.05 * 0.95 / 4000)
    difference = (after - turned)[moved[:, 0]]
    assert ((difference[:, 0] > -12 - 1e-9) & (difference[:, 0] < 18 + 1e-9)).all()
    assert abs(difference[:, 1].mean() - 15000) < 5 * 379.5 / math.sqrt(len(difference))
