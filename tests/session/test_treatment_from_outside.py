"""Treatments that somebody else writes: parser, binder and compiler learn of them by one tuple.

`shout` draws a number, keeps a lookup table and measures its column; `swap` treats two columns
together. Neither is known to the package.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.kernel import Kernel
from ppdm_sql.errors import BindError, InternalError, PrivacyWarning, Refused, TreatmentError
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments import TREATMENTS, kernels_of, traits_of
from ppdm_sql.treatments.arguments import flag, whole_number
from ppdm_sql.treatments.expressions import call
from ppdm_sql.treatments.protocol import Exactness
from ppdm_sql.treatments.traits import UNKNOWN
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import DOUBLE, VARCHAR, ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ppdm_sql.owner import Owner
    from ppdm_sql.treatments.protocol import Keys, Scope, Statistics


@dataclass(frozen=True, slots=True)
class Shout(Treatment):
    """A text becomes a number drawn for the release, the loud word of its table, and marks."""

    keyword = "shout"
    summary = "says it louder"
    undone_by = "listening closely"
    kinds = (Kind.TEXT,)
    instead = "whisper instead"
    arguments = (whole_number("times", 1, 1, 9),)
    releases = VARCHAR

    times: int

    def statistics(self, inputs: Sequence[exp.Expr]) -> Mapping[str, exp.Expr]:
        return {"words": exp.ArrayAgg(this=exp.Distinct(expressions=[inputs[0]]))}

    def draw(self, statistics: Statistics, keys: Keys, previous: Drawn | None) -> Drawn:
        words = [word for word in statistics["words"].as_py() or [] if word is not None]
        number = secrets.randbelow(10**9) if previous is None else previous.parameters["number"]
        table = pa.table({"original": pa.array(words, pa.string()), "released": loud(words)})
        return Drawn({"number": number, "marks": "!" * self.times}, {"loud": table})

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        number = exp.cast(scope.parameter("number"), "VARCHAR")
        said = exp.DPipe(this=number, expression=scope.lookup("loud", inputs[0]))
        return (exp.DPipe(this=said, expression=scope.parameter("marks")),)

    def checks(
        self, inputs: Sequence[exp.Expr], outputs: Sequence[exp.Expr]
    ) -> Mapping[str, exp.Expr]:
        return {"before": exp.Count(this=inputs[0]), "after": exp.Count(this=outputs[0])}

    def verify(self, results: Statistics) -> Sequence[str]:
        if results["before"] != results["after"]:
            raise TreatmentError("shout: somebody was not heard")
        return ("the neighbours complain",) if self.times == 9 else ()


def loud(words: Sequence[str]) -> pa.Array:
    return pa.array([word.upper() for word in words], pa.string())


@dataclass(frozen=True, slots=True)
class Swap(Treatment):
    """Two columns change places; it also has a kernel and an inverse."""

    keyword = "swap"
    summary = "two columns change places"
    undone_by = "swapping again"
    exactness = Exactness.EXACT
    fewest = most = 2
    kernels = (Kernel("ppdm_same", ("DOUBLE",), "DOUBLE", lambda x: x),)

    def output_types(self) -> tuple[ColumnType, ...]:
        return tuple(column.type for column in reversed(self.columns))

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        return tuple(inputs)[::-1]

    def kernel_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        return tuple(call(self.kernels[0], exp.cast(x, "DOUBLE")) for x in reversed(inputs))

    def invert(self, outputs: Sequence[pa.Array], drawn: Drawn) -> tuple[pa.Array, ...]:
        return tuple(outputs)[::-1]


@dataclass(frozen=True, slots=True)
class Vanish(Treatment):
    """A mistake of its author: two columns come in and one goes out."""

    keyword = "vanish"
    summary = "loses a column"
    undone_by = "nothing"
    most = None
    arguments = (flag("honest"),)

    honest: bool

    def output_types(self) -> tuple[ColumnType, ...]:
        return (VARCHAR,) if self.honest else (VARCHAR, VARCHAR)

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        return (inputs[0],)


@dataclass(frozen=True, slots=True)
class Peek(Treatment):
    """A mistake of its author: an expression that no target lists."""

    keyword = "peek"
    summary = "reads a file"
    undone_by = "nothing"
    releases = VARCHAR

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        return (exp.Anonymous(this="getenv", expressions=[exp.Literal.string("HOME")]),)


@dataclass(frozen=True, slots=True)
class Twice(Treatment):
    """A value computed once and used twice."""

    keyword = "twice"
    summary = "doubles a number"
    undone_by = "halving"
    releases = DOUBLE

    def to_expr(self, inputs: Sequence[exp.Expr], scope: Scope) -> tuple[exp.Expr, ...]:
        first, second = (scope.let(exp.cast(inputs[0].copy(), "DOUBLE")) for _ in range(2))
        return (exp.Add(this=first, expression=second),)


OUTSIDERS: tuple[type[Treatment], ...] = (Shout, Swap, Vanish, Peek, Twice)


@pytest.fixture
def clinic() -> Iterator[Owner]:
    """An owner who knows the outsiders too, with a small table."""
    with ppdm_sql.connect(":memory:", treatments=OUTSIDERS) as owner:
        owner.execute(
            "CREATE TABLE people (name VARCHAR, illness VARCHAR, age INTEGER, weight DOUBLE);"
            "INSERT INTO people VALUES ('Ada', 'flu', 30, 61.5), ('Bo', 'hiv', 40, 72),"
            " ('Cy', 'flu', NULL, 80), ('Di', NULL, 25, NULL)"
        )
        yield owner


def said(owner: Owner) -> list[Any]:
    return [word for (word,) in owner.sql("SELECT illness FROM r.p ORDER BY name").fetchall()]


def shout(owner: Owner, treatments: str) -> None:
    owner.execute(
        f"CREATE OR REPLACE RELEASE r.p FROM people (name NEUTRAL, illness SENSITIVE AS {treatments})"
    )


class TestShout:
    """A parameter, a table, a measure and a check of one's own."""

    def test_works_from_text_to_view(self, clinic: Owner) -> None:
        shout(clinic, "shout(times => 2)")
        flu, hiv, again, nothing = said(clinic)
        assert re.fullmatch(r"\d+FLU!!", flu)
        assert re.fullmatch(r"\d+HIV!!", hiv)
        assert (flu, nothing) == (again, None)
        assert flu.removesuffix("FLU!!") == hiv.removesuffix("HIV!!")

    def test_what_was_drawn_is_in_the_store_and_not_in_the_view(self, clinic: Owner) -> None:
        shout(clinic, "shout(2)")
        ((number, marks),) = clinic.sql(
            "SELECT t1_0_number, t1_0_marks FROM ppdm_owner.r1_v1_parameters"
        ).fetchall()
        assert marks == "!!"
        assert said(clinic)[0] == f"{number}FLU!!"
        for text in (clinic.explain("r.p"), view_text(clinic)):
            assert str(number) not in text
            assert "FLU" not in text
            assert "'!!'" not in text

    def test_refresh_keeps_the_number_and_learns_new_words(self, clinic: Owner) -> None:
        shout(clinic, "shout()")
        before = said(clinic)
        clinic.execute("INSERT INTO people VALUES ('Ed', 'mumps', 50, 50)")
        assert said(clinic) == [*before, None]
        clinic.execute("REFRESH RELEASE r.p")
        assert said(clinic) == [*before, before[0].replace("FLU", "MUMPS")]

    def test_describe_and_show(self, clinic: Owner) -> None:
        shout(clinic, "shout()")
        rows = clinic.sql("DESCRIBE RELEASE r.p").fetchall()
        assert rows[1][:6] == (
            "illness",
            "SENSITIVE",
            "shout",
            "VARCHAR",
            "listening closely",
            "not invertible",
        )
        assert [(info.release, info.columns) for info in clinic.releases()] == [("r.p", 2)]

    def test_then_a_listed_treatment(self, clinic: Owner) -> None:
        shout(clinic, "shout(3) THEN mapping(prefix => 'W')")
        first, second, third, fourth = said(clinic)
        assert {first, second} == {"W_1", "W_2"}
        assert (third, fourth) == (first, None)

    def test_after_a_listed_treatment(self, clinic: Owner) -> None:
        shout(clinic, "mapping(prefix => 'w') THEN shout()")
        assert {re.sub(r"^\d+", "", word or "") for word in said(clinic)} == {"W_1!", "W_2!", ""}

    def test_after_itself(self, clinic: Owner) -> None:
        shout(clinic, "shout() THEN shout(2)")
        assert re.fullmatch(r"\d+FLU!!!", said(clinic)[0])

    def test_its_warning_reaches_the_owner(self, clinic: Owner) -> None:
        with pytest.warns(PrivacyWarning, match="the neighbours complain"):
            shout(clinic, "shout(9)")

    def test_its_errors_point_at_the_script(self, clinic: Owner) -> None:
        with pytest.raises(TreatmentError) as caught:
            shout(clinic, "shout(times => 10)")
        assert caught.value.what == "shout: 'times' must be a whole number from 1 to 9"
        assert caught.value.span is not None
        assert caught.value.span.source == "times => 10"
        with pytest.raises(TreatmentError, match="shout cannot treat 'age' of type INTEGER"):
            clinic.execute("CREATE RELEASE r.q FROM people (age NEUTRAL AS shout())")

    def test_is_suggested_for_a_word_that_is_near(self, clinic: Owner) -> None:
        with pytest.raises(BindError) as caught:
            shout(clinic, "shuot()")
        assert (caught.value.hint or "").startswith("did you mean 'shout'?")

    def test_nobody_else_knows_it(self, people: Owner) -> None:
        with pytest.raises(BindError, match="unknown treatment 'shout'"):
            people.execute("CREATE RELEASE r.p FROM clinic.people (name NEUTRAL AS shout())")


class TestSwap:
    """Two columns at once, and a kernel of one's own."""

    @pytest.mark.parametrize("execution", ["native", "udf"])
    def test_two_columns(self, clinic: Owner, execution: str) -> None:
        clinic.execute(
            "CREATE RELEASE r.p FROM people ((age, weight) QUASI AS swap())"
            f" WITH (execution = '{execution}')"
        )
        assert clinic.sql("SELECT age, weight FROM r.p").fetchall() == [
            (61.5, 30),
            (72, 40),
            (80, None),
            (None, 25),
        ]

    def test_types_change_places_too(self, clinic: Owner) -> None:
        clinic.execute("CREATE RELEASE r.p FROM people ((age, weight) QUASI AS swap())")
        assert [(c.column, c.type) for c in clinic.describe("r.p")] == [
            ("age", "DOUBLE"),
            ("weight", "INTEGER"),
        ]

    def test_twice_is_as_before(self, clinic: Owner) -> None:
        clinic.execute("CREATE RELEASE r.p FROM people ((age, weight) QUASI AS swap() THEN swap())")
        assert clinic.sql("FROM r.p").fetchall() == (
            clinic.sql("SELECT age, weight FROM people").fetchall()
        )

    def test_then_a_treatment_of_groups(self, clinic: Owner) -> None:
        clinic.execute(
            "CREATE RELEASE r.p FROM people ((age, weight) QUASI AS swap() THEN suppress())"
        )
        rows = clinic.sql("SELECT typeof(age), typeof(weight), age, weight FROM r.p").fetchall()
        assert rows == [("DOUBLE", "INTEGER", None, None)] * 4

    def test_a_treatment_of_one_column_cannot_follow(self, clinic: Owner) -> None:
        with pytest.raises(TreatmentError, match="one column at a time, not a group of 2"):
            clinic.execute(
                "CREATE RELEASE r.p FROM people ((name, illness) QUASI AS swap() THEN mapping())"
            )

    def test_refresh_and_describe(self, clinic: Owner) -> None:
        clinic.execute(
            "CREATE RELEASE r.p FROM people ((age, weight) QUASI AS swap());REFRESH RELEASE r.p"
        )
        (age, _) = clinic.describe("r.p")
        assert (age.treatment, age.undone_by, age.inverse) == ("swap", "swapping again", "exact")

    def test_beside_other_columns_of_other_depth(self, clinic: Owner) -> None:
        clinic.execute(
            "CREATE RELEASE r.p FROM people (name NEUTRAL, (age, weight) QUASI AS swap(),"
            " illness SENSITIVE AS keep() THEN shout(1) THEN mapping('W'))"
        )
        rows = clinic.sql("SELECT name, age, weight, illness IS NULL FROM r.p ORDER BY name")
        assert rows.fetchall() == [
            ("Ada", 61.5, 30, False),
            ("Bo", 72, 40, False),
            ("Cy", 80, None, False),
            ("Di", None, 25, True),
        ]


@pytest.mark.parametrize("chain", ["", " THEN twice()"], ids=["one stage", "two stages"])
def test_what_is_used_twice_is_computed_once(clinic: Owner, chain: str) -> None:
    clinic.execute(f"CREATE RELEASE r.p FROM people (age QUASI AS twice(){chain}, name NEUTRAL)")
    factor = 4 if chain else 2
    ages = [age for (age,) in clinic.sql("SELECT age FROM r.p ORDER BY name").fetchall()]
    assert ages == [30 * factor, 40 * factor, None, 25 * factor]
    assert clinic.explain("r.p").count(" AS DOUBLE)") == factor // 2


class TestMistakes:
    """What a careless author is told."""

    @pytest.mark.parametrize("honest", ["true", "false"])
    def test_a_column_that_vanishes(self, clinic: Owner, honest: str) -> None:
        with pytest.raises(TreatmentError, match=r"vanish: (to_expr|output_types) must return"):
            clinic.execute(
                f"CREATE RELEASE r.p FROM people ((name, illness) QUASI AS vanish(honest => {honest}))"
            )
        assert clinic.releases() == []

    def test_a_function_that_is_not_listed(self, clinic: Owner) -> None:
        with pytest.raises(InternalError, match="unlisted function"):
            clinic.execute("CREATE RELEASE r.p FROM people (name NEUTRAL AS peek())")
        assert clinic.releases() == []


def test_what_is_added_is_beside_the_others(clinic: Owner) -> None:
    clinic.execute("CREATE RELEASE r.p FROM people (name NEUTRAL, age QUASI AS twice())")
    assert clinic.execute("SELECT max(age) FROM r.p").fetchone() == (80,)


def test_a_word_that_there_is_already_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Other(Twice):
        """Another treatment of the same name."""

    @dataclass(frozen=True, slots=True)
    class Mine(Twice):
        """A treatment called like one of the package."""

        keyword = "scaling"

    for added in ((Mine,), (Twice, Other)):
        with pytest.raises(TreatmentError, match="there is already a treatment"):
            ppdm_sql.connect(":memory:", treatments=added)


def test_a_treatment_that_says_nothing_is_taken_for_the_worst() -> None:
    traits = Twice.traits
    assert traits.mixes_columns
    assert traits.has_secret_number
    assert traits.links_rows
    assert not any((traits.shows_originals, traits.keeps_shape, traits.is_affine))
    assert traits_of("nobody knows this word") == traits == UNKNOWN
    assert "all sites draw the same" in (Twice(()).why_not_agreed() or "")


def test_what_may_link_rows_is_not_published_as_unlinkable(clinic: Owner, tmp_path: Path) -> None:
    """A treatment that does not say so may draw from more than keys: other keys change nothing."""
    shout(clinic, "shout()")
    with pytest.raises(Refused, match="cannot be made unlinkable") as caught:
        clinic.publish("r.p", to=tmp_path / "study.duckdb", unlinkable=True)
    assert caught.value.code == "not_unlinkable"


def view_text(owner: Owner) -> str:
    ((text,),) = owner.sql("SELECT sql FROM duckdb_views() WHERE schema_name = 'r'").fetchall()
    return str(text)


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


@pytest.mark.parametrize("treatment", TREATMENTS, ids=lambda treatment: treatment.keyword)
class TestListed:
    """The treatments of the package: one word, one class, one file, one test."""

    def test_word_class_file_and_test_share_a_stem(self, treatment: type[Treatment]) -> None:
        assert treatment.keyword == snake_case(treatment.__name__)
        assert treatment.__module__.removeprefix("ppdm_sql.treatments.") in (
            treatment.keyword,
            "digit_shift",  # one file for both
            "limit_code",  # and here
        )
        tests = Path(__file__).parent / "treatments"
        assert (tests / f"test_{treatment.keyword}.py").exists()

    def test_says_what_it_does_in_one_line(self, treatment: type[Treatment]) -> None:
        for text in (treatment.summary, treatment.undone_by):
            assert text.strip() == text != ""
            assert "\n" not in text
            assert not text.endswith(".")
            assert "|" not in text  # they stand in a table of docs/owner/treatments.md

    def test_is_a_frozen_value(self, treatment: type[Treatment]) -> None:
        parameters = getattr(treatment, "__dataclass_params__", None)
        assert parameters is not None
        assert parameters.frozen
        assert hasattr(treatment, "__slots__")
        assert isinstance(treatment.exactness, Exactness)

    def test_what_inverts_says_how_exactly(self, treatment: type[Treatment]) -> None:
        inverts = treatment.invert is not Treatment.invert
        assert inverts is (treatment.exactness in (Exactness.EXACT, Exactness.NEAR))

    def test_kernels_have_the_prefix(self, treatment: type[Treatment]) -> None:
        for kernel in treatment.kernels:
            assert kernel.name.startswith("ppdm_")


def test_words_are_listed_once() -> None:
    words = [treatment.keyword for treatment in TREATMENTS]
    assert len(words) == len(set(words))
    kernels = kernels_of(TREATMENTS)  # two treatments may call one function
    assert len({kernel.name for kernel in kernels}) == len(kernels)
