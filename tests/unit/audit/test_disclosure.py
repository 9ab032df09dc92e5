"""What a report that is handed on tells of small counts: nothing that could be worked out."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppdm_sql.audit.attacks.protocol import SHARE, AimKind, Finding
from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.audit.measure.pictures import WITHOUT, Distribution
from ppdm_sql.audit.measure.singling_out import ColumnSet
from ppdm_sql.audit.report.disclosure import disclosed
from ppdm_sql.audit.report.model import ClassSizes
from ppdm_sql.audit.report.requirements import check, parse_requirements
from ppdm_sql.audit.report.small_counts import (
    SMALL,
    coarse_share,
    few_digits,
    round_to_steps,
    round_up,
)
from tests.unit.audit.test_report import AGE, REPORT, treated


@given(st.integers(0, 400), st.integers(1, 400))
def test_a_share_is_rounded_up_in_whole_fives(count: int, total: int) -> None:
    count = min(count, total)
    shown = coarse_share(count / total, total)
    assert count / total - 1e-12 <= shown <= 1
    assert (shown == 0) == (count == 0)
    if total >= SMALL and shown < 1:
        fives = shown * (total // SMALL)
        assert fives == pytest.approx(round(fives))


@given(st.integers(1, 10_000), st.data())
def test_counts_of_one_five_cannot_be_told_apart(total: int, data: st.DataObject) -> None:
    """Neither what is counted, nor of how many."""
    fifth = data.draw(st.integers(0, (total - 1) // SMALL))
    counts = range(SMALL * fifth + 1, min(SMALL * fifth + SMALL, total) + 1)
    assert len({coarse_share(count / total, total) for count in counts}) == 1
    wholes = range(SMALL * (total // SMALL) + SMALL, SMALL * (total // SMALL) + 2 * SMALL)
    assert len({coarse_share(SMALL * fifth / whole, whole) for whole in wholes}) == 1


def test_nothing_stays_nothing_and_what_is_no_number_stays() -> None:
    assert coarse_share(0.0, 100) == 0
    assert coarse_share(0.5, 0) == 0.5
    assert coarse_share(1 / 3, 3) == 1
    assert coarse_share(5 / 28, 28) == 0.2
    assert math.isnan(coarse_share(math.nan, 10))
    assert math.isnan(few_digits(math.nan))
    assert few_digits(0.123456) == 0.1235
    assert few_digits(1e-15) == 0
    assert round_up(6, 8) == 8
    assert round_to_steps(0.021, 20) == 0.05
    assert round_to_steps(0.65, 20) == 0.65
    assert math.isnan(round_to_steps(math.nan, 20))


FEW = replace(
    REPORT,
    stamp=replace(REPORT.stamp, persons=18_991),
    figures=(
        Figure("risk", "k", "", 1, "the smallest"),
        Figure("risk", "unique_share", "", 2 / 100, "alone", 100),
        Figure("utility", "correlation", "age", 0.987654321, "Pearson's"),
        Figure("utility", "sec", "age", 0.01, "Sec"),
        Figure("utility", "eigenvalues", "age, weight", 0.01, "differ"),
        Figure("utility", "correlation", "weight", 0.987654321, "Pearson's"),
        Figure("utility", "discernibility", "", 245.0, "sum"),
    ),
    attacks=(
        Finding("ordering", "none", AimKind.COLUMN, "age", 13 / 100, 1 / 100, f"gets {SHARE}", 100),
        Finding("averaging", "none", AimKind.COLUMN, "weight", 0.123456, 0.0, f"gets {SHARE}"),
        Finding("ordering", "none", AimKind.COLUMN, "age", 0.0206, 0.0207, f"gets {SHARE}", 9_999),
        Finding("linking", "a table", AimKind.TABLE, "", 0.0022, 0.0004, f"finds {SHARE}", 2_483),
        Finding("spectral", "size", AimKind.GROUP, "weight", 0.0011, 0.0, f"filters {SHARE}"),
        Finding("differencing", "both", AimKind.COLUMN, "age", 0.61, 0.0, f"rid of {SHARE} of it"),
    ),
    columns=(
        replace(AGE, risk=0.00012),
        replace(
            treated(AGE, "bit_plus"),
            name="weight",
            before=Distribution("numbers", (0.00035, None, 0.0, 0.5), 0.49965),
        ),
    ),
    class_sizes=(ClassSizes(1, 1, 2), ClassSizes(2, 2, 4), ClassSizes(3, 4, 57)),
    singling=(ColumnSet(("age",), 1 / 18_991),),
)


def test_a_report_for_others_tells_no_small_count() -> None:
    shown = disclosed(FEW)
    assert [f.value for f in shown.figures] == [1, 0.05, 1.0, None, None, 0.9877, 240]
    assert [(a.share, a.chance) for a in shown.attacks] == [
        (0.15, 0.0),
        (0.2, 0.0),
        (0.02001, 0.02001),
        (0.004, 0.0),
        (0.0, 0.0),
        (1.0, 0.0),  # of one constant, any share tells it
    ]
    assert [a.sentence for a in shown.attacks[::5]] == ["gets 15\u00a0%", "rid of a part of it"]
    assert [size.persons for size in shown.class_sizes] == [None, None, 60]
    assert shown.singling[0].unique_share == pytest.approx(5 / 18_990, rel=1e-3)
    age, weight = shown.columns
    assert age.before == WITHOUT  # bands are in the shape of what they were cut from
    assert weight.before.bars == (0.0005, None, None, 0.5)
    assert age.risk == 0.05
    assert age.utility == 0.9
    assert shown.stamp.persons == 18_995
    assert shown.verdict[0].startswith("5\u00a0% of the people are alone")


@pytest.mark.parametrize("treatment", ["translation", "keep then noise", "of_somebody_elses"])
def test_figures_in_both_units_are_the_owners_where_they_would_tell_a_parameter(
    treatment: str,
) -> None:
    columns = (treated(AGE, treatment), replace(treated(AGE, "keep"), name="weight"))
    names = ("sec", "mean_drift", "quantile_drift", "ks", "wasserstein", "js")
    figures = [
        Figure("utility", name, about, 0.5, "") for name in names for about in ("age", "weight")
    ]
    figures += [Figure("utility", "il1s", "age, weight", 0.5, "")]
    shown = disclosed(replace(FEW, columns=columns, figures=tuple(figures))).figures
    told = {(f.name, f.about): f.value for f in shown}
    assert {told[name, "age"] for name in names} == {None}
    assert {told[name, "weight"] for name in names} == {0.5}
    assert told["il1s", "age, weight"] is None
    assert "for the owner alone" in shown[0].sentence


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("t", 0.0132, 0.05),
        ("alpha", 12 / 13, 0.95),
        ("entropy_l", 1.31, 1.0),
        ("proximity_l", 1.99, 1.5),
        ("recursive_c_2", 12.0, 20.0),
        ("recursive_c_2", 74.0, None),
        ("association", 0.9833, 1.0),
        ("tree_original", 0.7833, 0.8),
        ("discernibility", 1234.0, 1200.0),
    ],
)
def test_figures_of_one_class_tell_not_how_many_in_it_differ(
    name: str, value: float, told: float | None
) -> None:
    (shown,) = disclosed(replace(FEW, figures=(Figure("risk", name, "x", value, ""),))).figures
    assert shown.value == told


@pytest.mark.parametrize(
    ("treatment", "is_shown"),
    [
        ("keep", True),
        ("mapping", True),
        ("bit_plus", True),
        ("translation", True),
        ("scaling", True),
        ("bit_plus then translation", False),
        ("graded_grouping", False),
        ("noise", False),
        ("rotation", False),
        ("hybrid", False),
        ("microaggregation", False),
        ("of_somebody_elses", False),
    ],
)
def test_shapes_that_would_tell_a_parameter_are_the_owners(treatment: str, is_shown: bool) -> None:
    (column,) = disclosed(replace(FEW, columns=(treated(AGE, treatment),))).columns
    assert (column.before != WITHOUT) == is_shown
    assert (column.utility is None) == (treatment in {"rotation", "hybrid", "of_somebody_elses"})


def test_figures_that_are_the_owners_are_named_and_not_told() -> None:
    owners = Figure("risk", "untouched", "", 0.87, "share", 100, is_owners=True)
    (shown,) = disclosed(replace(FEW, figures=(owners,))).figures
    assert shown.value is None
    assert shown.is_withheld
    assert shown.of is None


def test_a_gain_over_a_good_guess_does_not_vanish_by_rounding() -> None:
    """7 of 2,000 are unlike the others, and all seven are found."""
    rare = Finding("frequency", "none", AimKind.COLUMN, "hiv", 1.0, 0.9965, f"gets {SHARE}", 2_000)
    (shown,) = disclosed(replace(FEW, attacks=(rare,))).attacks
    assert (shown.share, shown.chance) == (1.0, 0.995)
    assert shown.gain > 0.5


def test_a_key_is_no_column_of_the_report_and_tells_no_constant_either() -> None:
    key = Finding("differencing", "both", AimKind.COLUMN, "id", 0.61, 0.0, f"rid of {SHARE} of it")
    (shown,) = disclosed(replace(FEW, attacks=(key,))).attacks
    assert shown.share == 1
    assert shown.sentence == "rid of a part of it"


def test_the_strongest_attack_is_chosen_before_rounding() -> None:
    """Both become a half when they are rounded, and then neither would gain anything."""
    weak = Finding("frequency", "none", AimKind.COLUMN, "a", 0.1, 0.0, f"gets {SHARE}", 10)
    strong = replace(weak, attack="ordering", share=0.5)
    told = disclosed(replace(FEW, attacks=(weak, strong))).verdict[1]
    assert "ordering" in told
    assert "Gets 50\u00a0%" in told


def test_the_exact_figure_decides_and_the_rounded_one_is_told() -> None:
    required = parse_requirements("unique_share<=0.02, unique_share<=0.01, k>=1, unique_share>0.03")
    (withheld,) = check(FEW, disclosed(FEW), parse_requirements("sec(age)<=0.1"))
    assert withheld.is_met
    assert withheld.sentence == "judged by the exact figure, which --internal shows (age)"
    told = [(o.is_met, o.sentence) for o in check(FEW, disclosed(FEW), required)]
    rounded = "0.05, rounded; the exact figure decides"
    assert told == [(True, rounded), (False, "0.05"), (True, "1"), (False, rounded)]
