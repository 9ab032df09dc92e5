"""hybrid() through releases: one operation for each column, given or drawn; which, nobody can read."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.parameters import Drawn
from ppdm_sql.release.model import FORMULA
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.hybrid import Hybrid
from ppdm_sql.treatments.protocol import Exactness, InputColumn
from ppdm_sql.types import ColumnType
from tests.releases import version_of
from tests.session.treatments.one_table import fill_rows, released

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

PEOPLE = [(29, 48), (38, 72), (34, 51), (43, 65), (42, 60), (48, 53)]
AGES = [31, 40, 36, 45, 44, 50]
SALARIES = [44.64, 66.96, 47.43, 60.45, 55.8, 49.29]
DRAWS = 3000
SPREAD = 100.0


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner for tests that make their own table `t` and release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def release(owner: Owner, count: int, operations: str = "", execution: str = "native") -> None:
    columns = ", ".join(f"c{at}" for at in range(count))
    owner.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t"
        f" (id KEY AS keep(), ({columns}) SENSITIVE AS hybrid({operations}))"
        f" WITH (execution = '{execution}')"
    )


def stored(owner: Owner) -> tuple[Hybrid, Drawn]:
    """Return the treatment of the release's second rule, and what it drew."""
    version = version_of(owner, "r.t")
    bound = version.release
    step = bound.rules[1].steps[0]
    assert isinstance(step.treatment, Hybrid)
    return step.treatment, version.parameters[step.slot]


def made(count: int) -> Hybrid:
    columns = [
        InputColumn(Name(f"c{at}"), ColumnType("DOUBLE"), f"table:c{at}") for at in range(count)
    ]
    return Hybrid.from_call(TreatmentCall("hybrid"), columns)


def word(own: float, other: float, shift: float) -> str:
    """Return which operation a column's coefficients are."""
    if other:
        assert shift == 0
        assert math.hypot(own, other) == pytest.approx(1)
        return "rotation"
    if shift:
        assert own == 1
        return "translation"
    assert own != 1
    return "scaling"


@pytest.mark.parametrize("execution", ["native", "udf"])
@pytest.mark.parametrize("type_", ["INTEGER", "DOUBLE"])
def test_the_people_of_the_document(shared: Owner, type_: str, execution: str) -> None:
    fill_rows(shared, PEOPLE, type_, type_)
    release(shared, 2, "translation(2), scaling(0.93)", execution)
    ages, salaries = (list(column) for column in zip(*released(shared), strict=True))
    assert ages == AGES
    assert salaries == pytest.approx(SALARIES, rel=1e-14)
    assert [str(t) for t in shared.sql("FROM r.t").types] == ["INTEGER", "DOUBLE", "DOUBLE"]


def test_a_rotated_pair_is_what_rotation_gives(shared: Owner) -> None:
    fill_rows(shared, PEOPLE, "DOUBLE", "DOUBLE")
    release(shared, 2, "rotation(13.7), rotation(13.7)")
    hybrid = released(shared)
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), (c0, c1) SENSITIVE AS rotation(13.7))"
    )
    assert np.array(hybrid) == pytest.approx(np.array(released(shared)), rel=1e-14)


def test_each_column_of_an_odd_number_has_its_operation(shared: Owner) -> None:
    fill_rows(shared, [(1, 2, 3), (10, 20, 30)], *["DOUBLE"] * 3)
    release(shared, 3, "rotation(30), rotation(30), scaling(by => 2)")
    (first, _) = released(shared)
    assert first[0] == pytest.approx(math.cos(math.pi / 6) + 2 * math.sin(math.pi / 6))
    assert first[1] == pytest.approx(2 * math.cos(math.pi / 6) - math.sin(math.pi / 6))
    assert first[2] == 6


def test_a_pair_may_share_a_drawn_angle(shared: Owner) -> None:
    fill_rows(shared, PEOPLE, "DOUBLE", "DOUBLE")
    release(shared, 2, "rotation(), rotation()")
    before, after = np.array(PEOPLE, dtype=float), np.array(released(shared))
    assert np.hypot(*after.T) == pytest.approx(np.hypot(*before.T), rel=1e-12)
    assert not np.allclose(before, after)


def test_null_reaches_a_partner_only_by_rotation(shared: Owner) -> None:
    fill_rows(shared, [(1, None, 1, None), (None, 2, None, 2)], *["DOUBLE"] * 4)
    release(shared, 4, "translation(2), scaling(3), rotation(30), rotation(30)")
    assert released(shared) == [(3, None, None, None), (None, 6, None, None)]


def test_what_cannot_be_computed_is_refused_at_creation_and_null_later(shared: Owner) -> None:
    operations = "translation(2), scaling(3)"
    fill_rows(shared, [(1, 2), ("nan", 1), (1, "infinity"), (1e300, 1)], "DOUBLE", "DOUBLE")
    with pytest.raises(TreatmentError) as caught:
        release(shared, 2, operations)
    assert caught.value.what == (
        "hybrid: 3 rows of 'c0, c1' cannot be computed (NaN, infinite or out of range)"
    )
    shared.execute("CREATE TABLE wrong AS FROM t WHERE id > 0; DELETE FROM t WHERE id > 0")
    release(shared, 2, operations)
    shared.execute("INSERT INTO t FROM wrong; DROP TABLE wrong")
    assert released(shared) == [(3, 6), (None, 3), (3, None), (None, 3)]


def test_a_null_beside_it_does_not_hide_what_cannot_be_computed(shared: Owner) -> None:
    fill_rows(shared, [(1, 2), ("nan", None)], "DOUBLE", "DOUBLE")
    with pytest.raises(TreatmentError, match="cannot be computed"):
        release(shared, 2, "translation(2), scaling(3)")


def test_an_empty_table_can_be_released(shared: Owner) -> None:
    fill_rows(shared, [], "DOUBLE", "DOUBLE")
    release(shared, 2)
    assert released(shared) == []


def drawn_operations(count: int, at: int) -> tuple[Counter[str], list[tuple[str, float, float]]]:
    """Draw many times; return how often each operation came, and each with own and shift."""
    treatment, keys = made(count), RootKey(b"\0" * 32, formula=FORMULA)
    statistics = {f"low_{i}": 0.0 for i in range(count)} | {
        f"high_{i}": SPREAD for i in range(count)
    }
    words: Counter[str] = Counter()
    details = []
    for _ in range(DRAWS):
        parameters = treatment.draw(statistics, keys, None).parameters
        own, *others = (
            float(parameters[f"weight_{at}_{j}"]) for j in (at, *(set(range(count)) - {at}))
        )
        shift = float(parameters[f"shift_{at}"])
        found = word(own, math.hypot(*others), shift)
        words[found] += 1
        details.append((found, own, shift))
    return words, details


@pytest.mark.parametrize(("count", "at"), [(2, 0), (2, 1), (3, 2), (5, 1)])
def test_each_operation_has_the_same_chance(count: int, at: int) -> None:
    """Limits of 7.2 standard deviations: a chance of 10^-12 to fail. A last odd column, too."""
    words, _ = drawn_operations(count, at)
    assert set(words) == {"translation", "scaling", "rotation"}
    for times in words.values():
        assert abs(times / DRAWS - 1 / 3) < 7.2 * math.sqrt(2 / 9 / DRAWS)


def test_columns_that_are_rotated_are_rotated_with_each_other(shared: Owner) -> None:
    fill_rows(shared, [(1, 2, 3, 4), (7, -2, 0, 5)], *["DOUBLE"] * 4)
    release(shared, 4, "rotation(30), scaling(2), rotation(30), rotation(30)")
    hybrid = np.array(released(shared))
    shared.execute(
        "CREATE OR REPLACE RELEASE r.t FROM t (id KEY AS keep(), (c0, c2, c3) SENSITIVE AS rotation(30))"
    )
    assert hybrid[:, [0, 2, 3]] == pytest.approx(np.array(released(shared)), rel=1e-14)
    assert hybrid[:, 1].tolist() == [4, -4]


def test_groups_of_another_angle_are_rotated_apart(shared: Owner) -> None:
    fill_rows(shared, [(1, None, 3, 4)], *["DOUBLE"] * 4)
    release(shared, 4, "rotation(30), rotation(60), rotation(60), rotation(30)")
    (found,) = released(shared)
    assert [value is None for value in found] == [False, True, True, False]


def test_versions_of_earlier_formulas_have_one_partner(owner: Owner) -> None:
    treatment = made(3)
    old = Drawn(
        {
            "own_0": 0.8,
            "other_0": 0.6,
            "shift_0": 0.0,
            "own_1": 0.8,
            "other_1": -0.6,
            "shift_1": 0.0,
        }
        | {"own_2": 1.0, "shift_2": 5.0}
    )
    assert [treatment.row(old, at) for at in range(3)] == [
        ([0.8, 0.6, 0.0], 0.0),
        ([-0.6, 0.8, 0.0], 0.0),
        ([0.0, 0.0, 1.0], 5.0),
    ]
    kept = treatment.draw({}, RootKey(b"\0" * 32, formula=4), old)
    assert kept.parameters == old.parameters
    back = treatment.invert(
        [pa.array([2.0, None]), pa.array([1.0, 2.0]), pa.array([5.0, 6.0])], old
    )
    assert [column.to_pylist() for column in back] == [
        [pytest.approx(1.0), None], [pytest.approx(2.0), None], [0.0, 1.0],
    ]  # fmt: skip


def test_drawn_constants_are_far_from_doing_nothing() -> None:
    _, details = drawn_operations(2, 0)
    for found, own, shift in details:
        match found:
            case "translation":
                assert 0.25 * SPREAD <= abs(shift) <= SPREAD
            case "scaling":
                assert 0.25 <= own <= 0.8 or 1.25 <= own <= 4
            case _:
                angle = math.degrees(math.acos(abs(own)))
                assert 10 - 1e-9 <= angle <= 80 + 1e-9


@pytest.mark.parametrize("value", [1e17, -3e20, 0.0, 5.0])
def test_drawn_translations_move_a_constant_column(shared: Owner, value: float) -> None:
    treatment, keys = made(2), RootKey(b"\0" * 32, formula=FORMULA)
    columns = [exp.column(name, quoted=True) for name in ("x", "y")]
    aggregates = treatment.statistics(columns)
    shown = ", ".join(f"{to_sql(tree)} AS {name}" for name, tree in aggregates.items())
    source = f"(VALUES ({value!r}::DOUBLE, {value!r}::DOUBLE)) AS t (x, y)"
    (found,) = shared.sql(f"SELECT {shown} FROM {source}").fetchall()
    statistics = dict(zip(aggregates, found, strict=True))
    for _ in range(100):
        parameters = treatment.draw(statistics, keys, None).parameters
        shift = float(parameters["shift_0"])
        assert not shift or value + shift != value


def test_a_refresh_keeps_what_was_drawn_and_nobody_is_told(shared: Owner) -> None:
    fill_rows(shared, [(1, 2, 3), (4, 5, 60)], *["DOUBLE"] * 3)
    release(shared, 3)
    treatment, drawn = stored(shared)
    first = released(shared)
    shared.execute("REFRESH RELEASE r.t")
    assert stored(shared)[1].parameters == drawn.parameters
    assert released(shared) == first
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr((treatment, drawn))]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    secrets = [repr(v) for v in drawn.parameters.values() if v not in (0, 1)]
    assert not [text for text in told for secret in secrets if secret in text]


def test_the_text_of_the_view_is_the_same_whatever_was_chosen(shared: Owner) -> None:
    fill_rows(shared, PEOPLE, "DOUBLE", "DOUBLE")
    texts = set()
    for operations in (
        "translation(2), scaling(0.93)",
        "scaling(3), scaling(0.5)",
        "rotation(30), rotation(30)",
        "",
    ):
        release(shared, 2, operations)
        version = next(info.version for info in shared.releases() if info.release == "r.t")
        texts.add(shared.explain("r.t").replace(f"_v{version}_", "_v_"))
    assert len(texts) == 1


OPERATIONS = "hybrid takes operations"


@pytest.mark.parametrize(
    ("types", "operations", "what"),
    [
        (["DOUBLE"], "", "hybrid treats two or more columns together"),
        (["DOUBLE", "VARCHAR"], "", "hybrid cannot treat 'c1' of type VARCHAR"),
        (["DATE", "DATE"], "", "hybrid cannot treat 'c0' of type DATE"),
        (["DOUBLE"] * 2, "translation(2)", "hybrid: 1 operations for 2 columns"),
        (
            ["DOUBLE"] * 2,
            "scaling(2), scaling(2), scaling(2)",
            "hybrid: 3 operations for 2 columns",
        ),
        (["DOUBLE"] * 2, "2, 3", OPERATIONS),
        (["DOUBLE"] * 2, "a => scaling(2), b => scaling(3)", OPERATIONS),
        (["DOUBLE"] * 2, "scaling(2), noise(3)", "hybrid: unknown operation 'noise'"),
        (["DOUBLE"] * 2, "scaling(1), scaling(2)", "scaling: a scaling by 1 changes nothing"),
        (
            ["DOUBLE"] * 2,
            "translation(0), scaling(2)",
            "translation: a translation by 0 changes nothing",
        ),
        (
            ["DOUBLE"] * 2,
            "rotation(90), rotation(90)",
            "rotation: a rotation by a multiple of 90 degrees only swaps columns and signs",
        ),
        *(
            (
                ["DOUBLE"] * count,
                operations,
                "hybrid: a column is rotated with others, by the same angle, or not at all",
            )
            for count, operations in (
                (2, "rotation(30), scaling(2)"),
                (2, "scaling(2), rotation(30)"),
                (2, "rotation(30), rotation(31)"),
                (2, "rotation(), rotation(31)"),
                (3, "scaling(2), scaling(3), rotation(30)"),
                (4, "scaling(2), rotation(30), rotation(30), rotation(31)"),
            )
        ),
    ],
)
def test_what_it_refuses(shared: Owner, types: list[str], operations: str, what: str) -> None:
    fill_rows(shared, [], *types)
    with pytest.raises(TreatmentError) as caught:
        release(shared, len(types), operations)
    assert caught.value.what == what


def test_what_it_says_of_itself() -> None:
    hybrid = made(2)
    assert hybrid.exactness is Exactness.NEAR
    assert "known rows" in hybrid.undone_by
    assert hybrid.inverts
    assert not hybrid.kernels, "its one formula is SQL"


def test_a_text_is_not_translated() -> None:
    hybrid = made(2)
    drawn = hybrid.draw(
        {"low_0": 0, "high_0": 1, "low_1": 0, "high_1": 1},
        RootKey(b"\0" * 32, formula=FORMULA),
        None,
    )
    assert hybrid.invert_condition("=", "x", [exp.column("c0"), exp.column("c1")], drawn) is None
