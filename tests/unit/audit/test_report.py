"""The report as JSON, tables and a page; verdict, requirements, redaction, pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import ppdm_sql
from ppdm_sql.audit.attacks import ATTACKS
from ppdm_sql.audit.attacks.protocol import AimKind, Finding, Needs
from ppdm_sql.audit.measure.figure import Figure
from ppdm_sql.audit.measure.pictures import Distribution, before_and_after, distribution
from ppdm_sql.audit.measure.singling_out import ColumnSet
from ppdm_sql.audit.read.subject import Column, Values, labels_of, numbers_of
from ppdm_sql.audit.report.document import to_json
from ppdm_sql.audit.report.model import ClassSizes, ColumnReport, Report, Stamp
from ppdm_sql.audit.report.overview import overview
from ppdm_sql.audit.report.page import to_html
from ppdm_sql.audit.report.requirements import FIGURES, check, check_known, parse_requirements
from ppdm_sql.audit.report.script import redacted
from ppdm_sql.audit.report.small_counts import hide_small
from ppdm_sql.audit.report.tables import report_tables
from ppdm_sql.audit.report.verdict import strongest, verdict
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease, Role
from ppdm_sql.names import unchained
from ppdm_sql.treatments import traits_of
from tests.unit.audit.subjects import labels, numbers

SHAPE = Distribution("numbers", (0.1, None, 0.5), 0.4)


def column(
    name: str, role: str, treatment: str, utility: float | None, risk: float
) -> ColumnReport:
    return treated(ColumnReport(name, role, "", SHAPE, SHAPE, utility, risk), treatment)


def treated(column: ColumnReport, treatment: str) -> ColumnReport:
    """Return a column as another treatment leaves it."""
    traits = tuple(traits_of(word) for word in unchained(treatment))
    return replace(column, treatment=treatment, traits=traits)


AGE = column("age", "QUASI", "graded_grouping", 0.9, 0.8)
WARD = column("ward", "NEUTRAL", "keep", 1.0, 1.0)
LOST = column("zip", "QUASI", "suppress", None, 0.0)


def finding(attack: str, share: float, chance: float = 0.1, knowledge: str = "none") -> Finding:
    return Finding(attack, knowledge, AimKind.COLUMN, "age", share, chance, "it gets some")


REPORT = Report(
    Stamp(
        "research.<b>", 3, 20_000, 19_000, 5_000, 7, datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
        (("DuckDB", "2.0.0"),), "00ff",
    ),
    ("One & only.", "Two.", "Three."),
    (
        Figure("risk", "k", "", 4, "the smallest"),
        Figure("risk", "l", "illness", 2, "values"),
        Figure("risk", "l", "habit", 3, "values"),
        Figure("utility", "sec", "age", None, "Sec"),
    ),
    (finding("known_pairs_5", 0.3), finding("ordering", float("nan"))),
    (AGE, WARD, LOST),
    (ClassSizes(1, 1, None), ClassSizes(2, 4, 17), ClassSizes(5, None, 0)),
    (ColumnSet(("age", "zip"), 0.25),),
    ("classifiers: install it",),
    "CREATE RELEASE x",
)  # fmt: skip


def test_json_has_every_part_and_no_number_that_json_lacks() -> None:
    document = json.loads(to_json(REPORT))
    assert document["format"] == 1
    assert document["stamp"]["audited_at"] == "2026-01-02T03:04:00+00:00"
    assert document["stamp"]["software"] == {"DuckDB": "2.0.0"}
    assert document["attacks"][1]["share"] is None
    assert document["class_sizes"][0] == {"least": 1, "most": 1, "persons": None}
    assert set(document) == {
        "format", "stamp", "verdict", "figures", "attacks", "columns", "class_sizes", "singling",
        "left_out", "script", "is_internal", "outcomes",
    }  # fmt: skip


def test_tables_hold_the_same() -> None:
    tables = report_tables(REPORT)
    assert {name: table.num_rows for name, table in tables.items()} == {
        "audit_figures": 4,
        "audit_attacks": 2,
        "audit_stamp": 1,
        "audit_columns": 3,
        "audit_class_sizes": 3,
        "audit_singling": 1,
        "audit_requirements": 0,
    }
    assert tables["audit_figures"].column("value").to_pylist() == [4, 2, 3, None]


class Reader(HTMLParser):
    """Collects what a page would fetch or run, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_the_page_fetches_nothing_and_runs_nothing() -> None:
    page = to_html(REPORT)
    read = Reader(page)
    assert "script" not in read.tags
    assert read.links == ["data:,"]
    assert "default-src 'none'" in page
    assert "Audit of research.<b>" in read.texts  # as text, not as a tag
    assert read.tags.count("b") == 0
    assert read.tags.count("svg") == 1 + 2 + 2 * len(REPORT.columns)
    assert "Left out: classifiers: install it." in read.texts


def test_an_overview_shows_the_strongest_attack_for_each_knowledge() -> None:
    attacks = (
        replace(finding("face_value", 0.1), columns=("age",)),
        replace(finding("ordering", 0.3), columns=("age", "zip"), needs=Needs.FIGURES),
        replace(finding("frequency", 0.9, 0.9), columns=("age",), needs=Needs.FIGURES),
        replace(finding("linking", 0.5), columns=(), needs=Needs.TABLE),
    )
    seen = overview(attacks, (AGE, LOST))
    assert seen.knowledge == (Needs.NOTHING, Needs.FIGURES, Needs.TABLE)
    assert [
        [None if found is None else found.attack for found in line.strongest] for line in seen.lines
    ] == [["face_value", "ordering", None], [None, "ordering", None], [None, None, "linking"]]
    texts = Reader(to_html(replace(REPORT, attacks=attacks))).texts
    start = texts.index("whoever knows")
    assert texts[start : start + 15] == [
        "whoever knows", "nothing", "public figures", "a background table",
        "age", "no gain", "30\xa0%", "—",
        "ward", "released unchanged",
        "zip", "—", "30\xa0%", "—",
        "whose row it is",
    ]  # fmt: skip


def test_attacks_stand_in_the_order_of_what_they_need() -> None:
    order = list(Needs)
    places = [order.index(attack.needs) for attack in ATTACKS]
    # Digits need nothing where the released type tells how many decimals there are.
    places[[attack.name for attack in ATTACKS].index("digit_shift")] = 0
    assert places == sorted(places)
    assert set(places) == set(range(len(order)))


def test_an_internal_page_says_so() -> None:
    page = to_html(replace(REPORT, is_internal=True, singling=(), attacks=(), left_out=()))
    assert "for the owner only" in page
    assert "No attack applies." in page
    assert "Left out" not in page


def outcomes(text: str) -> list[tuple[bool, str]]:
    return [(o.is_met, o.sentence) for o in check(REPORT, REPORT, parse_requirements(text))]


def test_requirements_hold_for_everything_that_was_measured() -> None:
    assert outcomes("k>=4, l >= 2, known_pairs_5<=0.3") == [
        (True, "4"),
        (True, "2 (illness), 3 (habit)"),
        (True, "0.3 (age)"),
    ]
    assert outcomes("k > 4, L(Habit)=3, l>2.5") == [
        (False, "4"),
        (True, "3 (habit)"),
        (False, "2 (illness)"),
    ]


def test_requirements_of_columns_with_odd_names_hold_for_all_that_bear_them() -> None:
    report = replace(
        REPORT,
        figures=(
            Figure("risk", "l", 'a, "b"', 2, ""),
            Figure("risk", "l", "p(q)", 3, ""),
            Figure("risk", "sec", "a, b", 0.1, ""),
            Figure("risk", "sec", "a, b", 0.9, ""),
        ),
    )
    required = parse_requirements('l("p(q)")>=3, l("a, ""b""")>=3, sec(a, b)<=0.5, sec("A, b")>0')
    assert [(o.is_met, o.sentence) for o in check(report, report, required)] == [
        (True, "3 (p(q))"),
        (False, '2 (a, "b")'),
        (False, "0.9 (a, b)"),
        (True, "0.1 (a, b), 0.9 (a, b)"),
    ]


def test_what_was_not_measured_is_not_met() -> None:
    assert outcomes("linking<=1, sec<1, l(ward)>=1") == [
        (False, "was not measured"),
        (False, "could not be measured (age)"),
        (False, "was not measured"),
    ]


@pytest.mark.parametrize(
    ("text", "told", "at"),
    [
        ("k>=5, prosecuter<=0.2", "there is no figure or attack 'prosecuter'", "prosecuter<=0.2"),
        ("k>=5,, l>1", "this is not a requirement", ","),
        ("k", "this is not a requirement", "k"),
        ("k>=five", "this is not a requirement", "k>=five"),
        ("k>=5, l( )>=2", "this is not a requirement", "l( )>=2"),
        ("sec(a,,b)<1", "this is not a requirement", "sec(a,,b)<1"),
    ],
)
def test_a_requirement_that_cannot_be_read_is_told_with_its_place(
    text: str, told: str, at: str
) -> None:
    with pytest.raises(ppdm_sql.StatementError, match=told) as caught:
        parse_requirements(text)
    assert caught.value.span is not None
    assert caught.value.span.source == at


def test_requirements_come_in_a_list_too() -> None:
    both = parse_requirements(["k>=5", 'l(a,"b ""c""" ) >= 2, t<1'])
    assert both == parse_requirements('k>=5, l( a, "b ""c""")>=2, t<1')
    assert [one.text for one in both] == ["k>=5", 'l(a,"b ""c""" ) >= 2', "t<1"]
    assert [one.about for one in both] == [None, 'a, b "c"', None]


@pytest.mark.parametrize(
    "text",
    ["l(Age)>=2", "sec(a, b)<1", 'sec("A", b)<1', 'l("x, y")>1', "l(x, y, a)>1", "k(age)>=1"],
)
def test_requirements_of_columns_that_leave_are_taken(text: str) -> None:
    check_known(parse_requirements(text), ["age", "a", "b", "x, Y"], has_background=False)


@pytest.mark.parametrize(
    ("text", "told", "at"),
    [
        ("k>=5, l(agee)>=2", "the release has no column 'agee'", "agee"),
        ('sec(age, "a""b")<1', "the release has no column 'a\"b'", '"a""b"'),
        ("l(x)>1", "the release has no column 'x'", "x"),
        ("k>1, linking<=0.05", "'linking' needs a background table", "linking<=0.05"),
    ],
)
def test_what_cannot_be_required_is_told_before_it_is_measured(
    text: str, told: str, at: str
) -> None:
    with pytest.raises(ppdm_sql.PpdmError, match=told) as caught:
        check_known(parse_requirements(text), ["age", "x, y"], has_background=False)
    assert caught.value.span is not None
    assert caught.value.span.source == at
    assert caught.value.hint is not None


def test_the_list_of_figures_is_sorted_and_without_doubles() -> None:
    assert sorted(set(FIGURES)) == list(FIGURES)


def test_every_figure_and_attack_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "owner" / "audit.md").read_text(encoding="utf-8")
    for name in (*FIGURES, *(attack.name for attack in ATTACKS)):
        assert f"`{name}`" in page, name


def test_verdict_of_people_who_are_alone() -> None:
    figures = [Figure("risk", "k", "", 1, ""), Figure("risk", "unique_share", "", 0.25, "")]
    first, second, third = verdict(figures, [finding("ordering", 0.9)], [AGE, WARD], 0)
    assert first.startswith("25\u00a0% of the people are alone")
    assert "The strongest attack is ordering on age. It needs no knowledge at all." in second
    assert third == (
        "The treated columns keep 90\u00a0% of their information, on average; ward is released unchanged."
    )


def test_verdict_of_a_crowd() -> None:
    figures = [Figure("risk", "k", "", 5, "")]
    first, second, third = verdict(figures, [finding("ordering", 0.1)], [AGE, LOST], None)
    assert "with at least 4 others" in first
    assert second == "The one attack tried got no more than guessing would."
    assert third.endswith("and no column is released unchanged.")


def test_verdict_where_there_is_little_to_say() -> None:
    bare = replace(WARD, role="NEUTRAL")
    first, second, third = verdict([], [], [bare, replace(bare, name="bed")], None)
    assert first.startswith("No released column is declared QUASI")
    assert second.startswith("No attack of ours applies")
    assert (
        third == "It costs nothing, because nothing is treated: ward, bed are released unchanged."
    )
    assert verdict([], [], [LOST], None)[0] == "No row is released."
    assert "could not be measured" in verdict([], [], [LOST], None)[2]


def test_the_strongest_attack_is_the_one_that_needs_least() -> None:
    weak, strong = finding("ordering", 0.95), finding("known_pairs_20", 1.0)
    assert strongest([finding("x", 0.5), weak, strong]) == 1
    learns_least = replace(finding("record_linkage", 1.0), needs=Needs.PERSON)
    assert strongest([finding("x", 0.5), learns_least]) == 0
    assert strongest([finding("x", 0.1), learns_least]) == 1
    assert strongest([]) is None


SCRIPT = """
CREATE RELEASE research.people FROM (SELECT * FROM clinic.people WHERE name <> 'Zyxw') (
    id KEY AS pseudonym(prefix => 'Secretprefix'),
    age SENSITIVE AS noise(normal(0, 4.669), rho => 5),
    (a, b) SENSITIVE AS hybrid(translation(2), scaling(0.93)),
    zip QUASI,
    illness SENSITIVE AS mapping()
) GENERALIZE zip USING digits WHEN illness IN ('HIV') UNTIL k = 5
"""


def test_the_script_is_shown_without_any_parameter() -> None:
    (statement,) = parse_script(SCRIPT)
    assert isinstance(statement, CreateRelease)
    shown = redacted(statement)
    for secret in ("Zyxw", "Secretprefix", "4.669", "5,", "translation", "0.93", "HIV", "normal"):
        assert secret not in shown
    assert '"id" KEY AS pseudonym("prefix" => …)' in shown
    assert "FROM (…) (" in shown
    assert "WHEN …" in shown
    assert "k = 5" in shown


def test_the_source_is_shown_by_the_owners_own_name() -> None:
    (statement,) = parse_script("CREATE RELEASE r FROM ppdm_store.clinic.people (a NEUTRAL)")
    assert isinstance(statement, CreateRelease)
    assert 'FROM "clinic"."people" (' in redacted(statement)


def test_files_are_shown_without_their_path() -> None:
    (statement,) = parse_script("CREATE RELEASE r FROM '/home/secret.csv' (a NEUTRAL)")
    assert isinstance(statement, CreateRelease)
    assert "FROM … (" in redacted(statement)


def test_small_cells_are_not_drawn() -> None:
    shown = distribution(Values(labels=np.array([0] * 10 + [1] * 4 + [2] * 5 + [-1])))
    assert shown.bars == (0.5, 0.25, None)  # with the NULL, five rows are hidden
    assert shown.hidden == pytest.approx(0.25)
    two = distribution(Values(labels=np.array([0] * 10 + [1] * 5 + [2] * 2)))
    assert two.bars == (10 / 17, None, None)
    constant = distribution(Values(np.full(10, 3.5)))
    assert constant.bars == (1.0,)
    assert set(distribution(Values(np.full(3, np.nan))).bars) == {0.0}
    spread = distribution(Values(np.repeat(np.arange(100.0), 10)))
    assert sum(bar or 0 for bar in spread.bars) + spread.hidden == pytest.approx(1)


def test_what_is_hidden_cannot_be_told_from_the_total() -> None:
    assert hide_small([0, 2, 6, 18]) == [0, None, None, 18]
    assert hide_small([0, 2, 3, 18]) == [0, None, None, 18]
    assert hide_small([2]) == [None]
    assert hide_small([5, 0, 9]) == [5, 0, 9]


def test_generalized_numbers_are_drawn_as_frequencies() -> None:
    age = Column(
        "age", Role.QUASI, ("generalize",), 0,
        Values(np.arange(10.0), np.arange(10)), Values(labels=np.zeros(10, dtype=np.int64)),
    )  # fmt: skip
    before, after = before_and_after(age)
    assert (before.kind, after.kind) == ("categories", "categories")
    assert [d.kind for d in before_and_after(numbers("x", [1, 2], [1, 2]))] == ["numbers"] * 2
    assert before_and_after(labels("c", [0], [0]))[0].kind == "categories"


def test_arrow_columns_become_numbers_and_labels() -> None:
    import datetime as dt

    import pyarrow as pa

    days = numbers_of(pa.array([dt.date(1970, 1, 3), None]))
    assert days[0] == 2
    assert np.isnan(days[1])
    assert np.isnan(numbers_of(pa.array([float("inf")]))[0])
    assert Values(np.array([2.0, 1.0, 2.0, np.nan])).codes().tolist() == [1, 0, 1, 2]
    first, second = labels_of(pa.array(["a", None]), pa.array(["b", "a"]))
    assert first.tolist() == [0, -1]
    assert second.tolist() == [1, 0]
