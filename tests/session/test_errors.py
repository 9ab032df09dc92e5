"""The one renderer: what is wrong, the line with carets, what to write."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ppdm_sql import errors
from ppdm_sql.errors import (
    BindError,
    EngineError,
    InternalError,
    PpdmError,
    PrivacyWarning,
    Refused,
    Span,
    StatementError,
    StoreError,
    TreatmentError,
    plural,
    suggest,
)
from ppdm_sql.release.acceptance import OF_COLUMNS, OF_RELEASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner


def span_of(text: str, part: str) -> Span:
    start = text.index(part)
    return Span(text, start, start + len(part))


def shown(text: str, part: str) -> tuple[str, str]:
    """Return the line of the script and the line of carets below it."""
    rendered = str(StatementError("wrong", span_of(text, part))).splitlines()
    return rendered[2], rendered[3]


def test_a_message_says_what_where_and_what_to_write() -> None:
    text = "SELECT 1;\n    id KEEY,\n"
    error = StatementError("unknown role 'KEEY'", span_of(text, "KEEY"), "write KEY")
    assert str(error) == (
        "unknown role 'KEEY'\n  line 2, column 8:\n      id KEEY,\n         ^^^^\n  write KEY"
    )
    assert (error.what, error.hint) == ("unknown role 'KEEY'", "write KEY")
    assert (error.line, error.column) == (2, 8)
    assert error.args == ("unknown role 'KEEY'",)


def test_a_message_without_a_place_or_a_hint_is_one_line() -> None:
    error = BindError("there is no release 'r'")
    assert str(error) == "there is no release 'r'"
    assert (error.line, error.column, error.span) == (None, None, None)
    assert str(BindError("wrong", hint="write it right")) == "wrong\n  write it right"


@pytest.mark.parametrize(
    ("text", "part", "line", "column"),
    [
        ("a b", "a", 1, 1),
        ("a b", "b", 1, 3),
        ("a\nb", "b", 2, 1),
        ("a\r\nb c", "c", 2, 3),
        ("\n\n\tc", "c", 3, 2),
        ("é日😀c", "c", 1, 4),
        ("a\n\nlast", "last", 3, 1),
    ],
)
def test_lines_and_columns_count_from_one_in_characters(
    text: str, part: str, line: int, column: int
) -> None:
    span = span_of(text, part)
    assert (span.line, span.column, span.source) == (line, column, part)


def test_carets_stand_under_the_words() -> None:
    assert shown("    id KEEY, x", "KEEY") == ("      id KEEY, x", "         ^^^^")


def test_tabs_are_shown_as_spaces_and_carets_follow() -> None:
    line, carets = shown("\tid\tKEEY,\tx", "KEEY")
    assert "\t" not in line + carets
    assert line.index("KEEY") == carets.index("^")
    assert carets.count("^") == 4


def test_a_tab_inside_the_words_widens_the_carets() -> None:
    line, carets = shown("a OR\tREPLACE b", "OR\tREPLACE")
    start = line.index("OR")
    assert carets.index("^") == start
    assert len(carets) == line.index("REPLACE") + len("REPLACE")


@pytest.mark.parametrize(
    ("before", "columns"),
    [
        ("abc ", 4),
        ("é ß ", 4),
        ("日本 ", 5),
        ("e\u0301 ", 2),
        ("😀 ", 3),
        ("ﾊ ", 2),
        ("\u200b ", 1),
    ],
)
def test_carets_stand_where_a_terminal_shows_the_word(before: str, columns: int) -> None:
    line, carets = shown(f"{before}KEEY", "KEEY")
    assert line == f"      {before}KEEY"
    assert carets == " " * (6 + columns) + "^^^^"


def test_wide_letters_have_wide_carets() -> None:
    assert shown("x 日本 y", "日本")[1].count("^") == 4


def test_windows_line_ends_are_not_shown() -> None:
    rendered = str(StatementError("wrong", span_of("a\r\nb KEEY\r\nc\r\n", "KEEY")))
    assert "\r" not in rendered
    assert rendered.splitlines()[2:] == ["      b KEEY", "        ^^^^"]


def test_words_over_several_lines_are_marked_to_the_end_of_the_first() -> None:
    assert shown("x (a,  \r\n  b) y", "(a,  \r\n  b)") == ("      x (a,", "        ^^^")
    assert shown("x (a,\n  b) y", "(a,\n  b)") == ("      x (a,", "        ^^^")


def test_the_end_of_a_text_has_one_caret_behind_it() -> None:
    text = "DROP RELEASE"
    error = StatementError("wrong", Span(text, len(text), len(text)))
    assert str(error).splitlines()[1:] == [
        "  line 1, column 13:",
        "      DROP RELEASE",
        "                  ^",
    ]


@pytest.mark.parametrize("text", ["", "\n", "   ", "\n\n"])
def test_an_empty_line_still_has_a_caret(text: str) -> None:
    rendered = str(StatementError("wrong", Span(text, len(text), len(text))))
    assert rendered.splitlines()[-1].strip() == "^"


def test_a_span_reaches_to_the_end_of_another() -> None:
    text = "one two three"
    first, last = span_of(text, "one"), span_of(text, "three")
    assert first.to(last).source == text
    assert last.to(first).source == "three"


def test_a_span_does_not_print_the_script_it_stands_in() -> None:
    assert "secret" not in repr(Span("prefix => 'secret'", 0, 5))


def test_an_error_is_given_a_place_once() -> None:
    first, second = Span("a b", 0, 1), Span("a b", 2, 3)
    error = TreatmentError("wrong")
    assert error.at(None) is error
    assert error.span is None
    assert error.at(first).span is first
    assert error.at(second).span is first


@pytest.mark.parametrize(
    "kind", [StatementError, BindError, TreatmentError, Refused, StoreError, EngineError]
)
def test_what_a_user_can_fix_has_one_root(kind: type[PpdmError]) -> None:
    assert issubclass(kind, PpdmError)
    assert not issubclass(InternalError, PpdmError)
    with pytest.raises(PpdmError, match="wrong"):
        raise kind("wrong")


def test_an_engine_error_keeps_the_text_of_the_engine_apart() -> None:
    error = EngineError("Binder Error: no", engine_text="Binder Error: no\n\nLINE 1: x")
    assert str(error) == "Binder Error: no"
    assert error.engine_text.endswith("LINE 1: x")
    assert EngineError("withheld").engine_text == ""


def test_a_bug_says_that_it_is_one() -> None:
    assert str(InternalError("keep lost a column")) == (
        "keep lost a column; this is a bug in ppdm-sql, please report it"
    )


def test_a_warning_about_privacy_can_be_filtered_by_its_class() -> None:
    assert issubclass(PrivacyWarning, UserWarning)


def test_the_tree_in_the_docstring_names_every_error() -> None:
    classes = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert classes
    assert {name for name in classes if name not in (errors.__doc__ or "")} == set()


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("pseudonymize", ["keep", "pseudonym"], "did you mean 'pseudonym'? known: keep, pseudonym"),
        ("KEPE", ["keep", "mapping"], "did you mean 'keep'? known: keep, mapping"),
        ("xyz", ["keep", "mapping"], "known: keep, mapping"),
        ("b", ["b", "a", "b"], "did you mean 'b'? known: a, b"),
        ("x", [], "there are none"),
        ("r.nope", ["r.general"], "known: r.general"),
        ("genral", ["x.one", "r.general"], "did you mean 'r.general'? known: r.general, x.one"),
        ("r.peple", ["q.people", "r.people"], "did you mean 'r.people'? known: q.people, r.people"),
        ("zz", list("abcdefghij"), "known: a, b, c, d, e, f, g, h, i, j"),
        ("zz", list("kabcdefghijl"), "known: a, b, c, d, e, f, g, h, i, j and 2 more"),
    ],
)
def test_hints_name_the_nearest_word_and_list_ten(word: str, known: list[str], hint: str) -> None:
    assert suggest(word, known) == hint


def test_a_hint_spells_the_word_as_it_is_known() -> None:
    assert suggest("weigth", ["Weight"], "columns") == "did you mean 'Weight'? columns: Weight"


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 values"), (1, "1 value"), (2, "2 values"), (2000, "2,000 values")],
)
def test_one_value_two_values(count: int, text: str) -> None:
    assert plural(count, "value") == text


def test_a_plural_of_its_own() -> None:
    assert plural(1, "category", "categories") == "1 category"
    assert plural(3, "category", "categories") == "3 categories"


# Codes: what programs tell errors apart by

PACKAGE = Path(__file__).parents[2] / "ppdm_sql"
CODES = Path(__file__).parents[1] / "golden" / "error_codes.txt"
ERRORS = {
    "PpdmError", "StatementError", "BindError", "TreatmentError", "Refused", "StoreError",
    "EngineError",
}  # fmt: skip


def raised() -> Iterator[tuple[str, str | None]]:
    """Yield where the package makes an error, and the code it gives it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ERRORS
            ):
                given = [word.value for word in node.keywords if word.arg == "code"]
                code = given[0].value if given and isinstance(given[0], ast.Constant) else None
                yield (
                    f"{path.relative_to(PACKAGE)}:{node.lineno}",
                    code if code is None else str(code),
                )


def test_every_error_of_the_package_has_a_code_of_its_own() -> None:
    # Errors of DuckDB share one: their kind tells them apart.
    without = [
        place
        for place, code in raised()
        # Of what can be accepted, the code is that of the objection.
        if code is None and not place.startswith(("engine/duckdb", "release/acceptance.py"))
    ]
    assert without == []


def test_codes_are_stable() -> None:
    """They are part of what programs rely on: a change of this list is one of the interface."""
    codes = {code for _, code in raised() if code} | {*OF_COLUMNS, *OF_RELEASES}
    assert sorted(codes) == CODES.read_text().split()


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("CREATE RELEASE r.p FROM clinic.people (ward NEUTRAL); " * 2, "release_exists"),
        ("CREATE RELEASE r.p FROM clinic.people (wrad NEUTRAL)", "unknown_column"),
        (
            (
                "CREATE RELEASE r.p FROM clinic.people (id KEY, age QUASI, ward QUASI)"
                " GENERALIZE age UNTIL k = 6"
            ),
            "target_missed",
        ),
        ("DESCRIBE RELEASE r.nothing", "unknown_release"),
        ("SELECT * FROM nothing", "engine"),
    ],
)
def test_programs_tell_errors_apart_by_their_code(people: Owner, script: str, code: str) -> None:
    with pytest.raises(PpdmError) as caught:
        people.execute(script)
    assert caught.value.code == code
