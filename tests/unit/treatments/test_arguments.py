"""Reading the arguments of a call: every mistake is an error that points at its place."""

from __future__ import annotations

import pytest

from ppdm_sql.errors import TreatmentError
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateRelease, TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.treatments.arguments import Arguments, require_kind
from ppdm_sql.treatments.protocol import InputColumn
from ppdm_sql.treatments.treatment import Treatment
from ppdm_sql.types import ColumnType, Kind


def call(text: str) -> TreatmentCall:
    """Return a call as the parser reads it, with its spans."""
    (statement,) = parse_script(f"CREATE RELEASE r FROM t (x NEUTRAL AS {text})")
    assert isinstance(statement, CreateRelease)
    (found,) = statement.rules[0].treatments
    return found


def column(name: str, type_: str) -> InputColumn:
    return InputColumn(Name(name), ColumnType(type_), f"column:{name}")


def failure(text: str, names: tuple[str, ...]) -> TreatmentError:
    with pytest.raises(TreatmentError) as caught:
        Arguments(call(text), names)
    return caught.value


class TestNames:
    """Which argument is which."""

    def test_positional_arguments_take_the_names_in_order(self) -> None:
        arguments = Arguments(call("f(1, 'two')"), ("one", "two"))
        assert (arguments.value("one"), arguments.value("two")) == (1, "two")

    def test_named_arguments_stand_in_any_order(self) -> None:
        arguments = Arguments(call("f(two => 'two', one => 1)"), ("one", "two"))
        assert (arguments.value("one"), arguments.value("two")) == (1, "two")

    def test_names_are_folded(self) -> None:
        assert Arguments(call("f(ONE => 1)"), ("one",)).value("one") == 1

    def test_what_is_not_given_has_its_default(self) -> None:
        arguments = Arguments(call("f(1)"), ("one", "two"))
        assert "one" in arguments
        assert "two" not in arguments
        assert arguments.value("two") is None
        assert arguments.value("two", 2) == 2

    def test_null_is_given(self) -> None:
        arguments = Arguments(call("f(one => null)"), ("one",))
        assert "one" in arguments
        assert arguments.value("one", 1) is None

    def test_too_many(self) -> None:
        error = failure("f(1, 2, 3)", ("one", "two"))
        assert error.what == "f takes 2 arguments"
        assert error.span is not None
        assert error.span.source == "3"

    def test_one_too_many(self) -> None:
        assert failure("f(1, 2)", ("one",)).what == "f takes 1 argument"

    def test_any_where_none_is_taken(self) -> None:
        assert failure("f(1)", ()).what == "f takes no arguments"
        error = failure("f(one => 1)", ())
        assert (error.what, error.hint) == ("unknown argument 'one' of f", "it takes no arguments")

    def test_unknown_names_the_nearest(self) -> None:
        error = failure("f(band => 1)", ("bands", "names"))
        assert error.what == "unknown argument 'band' of f"
        assert error.hint == "did you mean 'bands'? arguments: bands, names"
        assert error.span is not None
        assert error.span.source == "band => 1"

    def test_by_place_and_by_name(self) -> None:
        error = failure("f(1, one => 2)", ("one", "two"))
        assert error.what == "argument 'one' is given twice"
        assert error.span is not None
        assert error.span.source == "one => 2"


class TestValues:
    """What an argument must be."""

    @pytest.mark.parametrize("value", ["5", "''", "null", "true", "['a']", "g()"])
    def test_text_must_be_a_text_that_is_not_empty(self, value: str) -> None:
        arguments = Arguments(call(f"f(one => {value})"), ("one",))
        with pytest.raises(TreatmentError) as caught:
            arguments.text("one", "default")
        assert caught.value.what == "f: 'one' must be a text"
        assert caught.value.hint == "write one => 'word'"
        assert caught.value.span is not None
        assert caught.value.span.source == f"one => {value}"

    def test_text(self) -> None:
        assert Arguments(call("f(' ')"), ("one",)).text("one", "default") == " "
        assert Arguments(call("f()"), ("one",)).text("one", "default") == "default"

    @pytest.mark.parametrize("value", ["'c'", "''", "1", "null", "['a']"])
    def test_choice_must_be_one_of_a_few(self, value: str) -> None:
        arguments = Arguments(call(f"f(one => {value})"), ("one",))
        with pytest.raises(TreatmentError) as caught:
            arguments.choice("one", "a", ("a", "b"))
        assert caught.value.what == "f: 'one' must be one of 'a', 'b'"

    def test_choice(self) -> None:
        assert Arguments(call("f('B')"), ("one",)).choice("one", "a", ("a", "b")) == "b"
        assert Arguments(call("f()"), ("one",)).choice("one", "a", ("a", "b")) == "a"

    @pytest.mark.parametrize("value", ["0", "11", "-5", "5.0", "true", "'5'", "null", "[5]"])
    def test_integer_must_be_whole_and_within_limits(self, value: str) -> None:
        arguments = Arguments(call(f"f(one => {value})"), ("one",))
        with pytest.raises(TreatmentError) as caught:
            arguments.integer("one", 5, 1, 10)
        assert caught.value.what == "f: 'one' must be a whole number from 1 to 10"

    @pytest.mark.parametrize("value", [1, 10])
    def test_integer(self, value: int) -> None:
        assert Arguments(call(f"f({value})"), ("one",)).integer("one", 5, 1, 10) == value
        assert Arguments(call("f()"), ("one",)).integer("one", 5, 1, 10) == 5

    def test_what_is_not_given_points_at_the_call(self) -> None:
        arguments = Arguments(call("f( 1 )"), ("one", "two"))
        with pytest.raises(TreatmentError) as caught:
            arguments.fail("two", "is missing", "write it")
        assert caught.value.what == "f: is missing"
        assert caught.value.hint == "write it"
        assert caught.value.span is not None
        assert caught.value.span.source == "f( 1 )"

    def test_values_are_not_in_repr(self) -> None:
        assert "4321" not in repr(call("f(4321, [4321], one => '4321')"))


class TestColumns:
    """How many columns, and of which types."""

    def test_a_group_where_one_is_taken(self) -> None:
        group = (column("x", "INTEGER"), column("y", "INTEGER"))
        with pytest.raises(TreatmentError) as caught:
            Treatment.check_columns(call("f(1)"), group)
        assert caught.value.what == "f treats one column at a time, not a group of 2"
        assert caught.value.span is not None
        assert caught.value.span.source == "f(1)"

    def test_kind_is_taken(self) -> None:
        require_kind(call("f()"), column("x", "UTINYINT"), (Kind.TEXT, Kind.INTEGER), "or not")

    @pytest.mark.parametrize(
        ("type_", "shown"), [("DOUBLE", "DOUBLE"), ("ENUM('never_seen')", "ENUM")]
    )
    def test_kind_is_not_taken(self, type_: str, shown: str) -> None:
        with pytest.raises(TreatmentError) as caught:
            require_kind(call("f()"), column("x y", type_), (Kind.TEXT, Kind.INTEGER), "or not")
        assert caught.value.what == f'f cannot treat "x y" of type {shown}'
        assert caught.value.hint == "it treats text, integer columns; or not"
