"""The treatments of one line, bound to its columns: what stands behind AS, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, TreatmentError, suggest
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.release.model import Step
from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.words_of_other_tools import INSTEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import ColumnRule
    from ppdm_sql.release.model import SourceColumn
    from ppdm_sql.treatments.protocol import InputColumn
    from ppdm_sql.treatments.treatment import Treatment

_UNTREATED = Keep.keyword


def steps_of(
    rule: ColumnRule,
    columns: tuple[InputColumn, ...],
    words: dict[str, type[Treatment]],
    index: int,
    known: Mapping[Name, SourceColumn],
) -> Iterator[Step]:
    """Return the treatments of a rule, each with the columns as the one before it releases them."""
    for place, call in enumerate(rule.treatments or (TreatmentCall(_UNTREATED, span=rule.span),)):
        if call.keyword not in words:
            names = ", ".join(str(column.name) for column in columns)
            raise BindError(
                f"unknown treatment '{call.keyword}' for column '{names}'",
                _word_span(call),
                INSTEAD.get(call.keyword) or suggest(call.keyword, words, "treatments", most=30),
                code="unknown_treatment",
            )
        columns = _with_beside(call, columns, place, known)
        treatment = words[call.keyword].from_call(call, columns)
        types = treatment.output_types()
        if len(types) != len(columns):
            raise TreatmentError(
                f"{call.keyword}: output_types must return one type for each column",
                call.span,
                code="wrong_treatment",
            )
        yield Step(treatment, f"t{index}_{place}", call.span)
        columns = tuple(
            replace(column, type=type_) for column, type_ in zip(columns, types, strict=True)
        )


def _with_beside(
    call: TreatmentCall,
    columns: tuple[InputColumn, ...],
    place: int,
    known: Mapping[Name, SourceColumn],
) -> tuple[InputColumn, ...]:
    """Return the columns with the one that `within` names."""
    given = next((one for one in call.arguments if one.name == "within"), None)
    if given is None or not isinstance(given.value, str):
        return columns
    name = Name(given.value)
    if name not in known:
        raise BindError(
            f"{call.keyword}: there is no column '{name}' in the source",
            given.span,
            suggest(name.text, [str(one) for one in known], "columns"),
            code="unknown_column",
        )
    if place:
        raise BindError(
            f"{call.keyword}: 'within' is for the first treatment of a column",
            given.span,
            f"write {call.keyword}(…) first, and the others behind THEN",
            code="bad_argument",
        )
    return tuple(replace(column, beside=name) for column in columns)


def _word_span(call: TreatmentCall) -> Span | None:
    if call.span is None:
        return None
    return type(call.span)(call.span.text, call.span.start, call.span.start + len(call.keyword))
