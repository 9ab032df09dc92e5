"""What sites can agree on, and whether a release keeps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.errors import BindError, PpdmError, Refused, suggest
from ppdm_sql.language.script import parse_script
from ppdm_sql.language.syntax import CreateAgreement, Role
from ppdm_sql.names import Name, chain
from ppdm_sql.store.catalog import damaged
from ppdm_sql.treatments.protocol import InputColumn
from ppdm_sql.types import ColumnType, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ppdm_sql.language.syntax import ColumnRule, TreatmentCall
    from ppdm_sql.release.model import BoundRule
    from ppdm_sql.store.agreements import Agreement
    from ppdm_sql.treatments.treatment import Treatment

# An agreement has no source: a treatment is tried on columns of these types.
_TRIED = ("INTEGER", "DOUBLE", "VARCHAR", "DATE", "DECIMAL(18,2)", "BOOLEAN")
KEY_KINDS = (Kind.INTEGER, Kind.TEXT, Kind.UUID, Kind.ENUM, Kind.DATE)
"""Types of a KEY whose text is the same at every site."""


def agreed_identity(name: Name) -> str:
    """Return what keys of an agreed column are derived from: its name, at every site."""
    return f"agreed:{name.folded}"


def agreement_statement(agreement: Agreement) -> CreateAgreement:
    """Return the statement that made an agreement, as the store keeps it."""
    statements = parse_script(agreement.definition)
    if len(statements) != 1 or not isinstance(statements[0], CreateAgreement):
        raise damaged(f"agreement '{agreement.name}' cannot be read")
    return statements[0]


def check_agreement(statement: CreateAgreement, words: Mapping[str, type[Treatment]]) -> None:
    """Raise when a treatment is unknown, wrong, or depends on the data of one site."""
    seen: set[Name] = set()
    for rule in statement.rules:
        for column in rule.columns:
            if column.name in seen:
                raise BindError(
                    f"column '{column.name}' is listed twice", column.span, code="listed_twice"
                )
            seen.add(column.name)
        if rule.role is Role.IDENTIFIER:
            raise BindError(
                "an IDENTIFIER is never released, so there is nothing to agree on",
                rule.span,
                "remove it; each site lists its own",
                code="wrong_role",
            )
    steps = [step for rule in statement.rules for step in _try_rule(rule, words)]
    keys = [rule for rule in statement.rules if rule.role is Role.KEY]
    if len(keys) > 1 or any(len(rule.columns) > 1 for rule in keys):
        raise BindError("an agreement has one KEY column", keys[-1].span, code="key")
    for call, treatment in steps:
        if treatment.traits.uses_row_key and not keys:
            raise BindError(
                f"{call.keyword} is fixed for each row: the sites must agree on a KEY",
                call.span,
                "list the KEY column, with or without a treatment",
                code="key",
            )


def _try_rule(
    rule: ColumnRule, words: Mapping[str, type[Treatment]]
) -> list[tuple[TreatmentCall, Treatment]]:
    """Return the treatments of a rule on the first types that they all take."""
    for call in rule.treatments:
        if call.keyword not in words:
            raise BindError(
                f"unknown treatment '{call.keyword}'",
                call.span,
                suggest(call.keyword, words),
                code="unknown_treatment",
            )
    failures: list[PpdmError] = []
    for type_ in _TRIED:
        columns = tuple(
            InputColumn(column.name, ColumnType(type_), agreed_identity(column.name))
            for column in rule.columns
        )
        try:
            return [
                (call, treatment)
                for call, treatment in _chain(rule, columns, words)
                if _is_agreed(call, treatment)
            ]
        except Refused:
            raise
        except PpdmError as error:
            failures.append(error)
    # Of all the reasons, one that is not about the type that was tried.
    raise next((error for error in failures if error.code != "wrong_type"), failures[0])


def _chain(
    rule: ColumnRule, columns: tuple[InputColumn, ...], words: Mapping[str, type[Treatment]]
) -> list[tuple[TreatmentCall, Treatment]]:
    chain = []
    for call in rule.treatments:
        treatment = words[call.keyword].from_call(call, columns)
        chain.append((call, treatment))
        columns = tuple(
            InputColumn(column.name, type_, column.identity)
            for column, type_ in zip(columns, treatment.output_types(), strict=True)
        )
    return chain


def _is_agreed(call: TreatmentCall, treatment: Treatment) -> bool:
    reason = treatment.why_not_agreed()
    if reason is not None:
        raise Refused(f"{call.keyword} cannot be agreed: {reason}", call.span, code="not_agreed")
    return True


def check_release(
    agreement: CreateAgreement,
    rules: Sequence[ColumnRule],
    bound: Sequence[BoundRule],
    words: Mapping[str, type[Treatment]],
    site: str | None = None,
) -> None:
    """Raise at the first place where a release says something else than its agreement."""
    hint = f"DESCRIBE AGREEMENT {agreement.name} shows what was agreed"
    groups = {_names(rule): rule for rule in agreement.rules}
    for rule, mine in zip(rules, bound, strict=True):
        if rule.role is Role.IDENTIFIER:
            continue  # it stays, whatever it is
        agreed = groups.get(_names(rule))
        listed = ", ".join(str(column.name) for column in rule.columns)
        if agreed is None:
            known = (str(column.name) for other in agreement.rules for column in other.columns)
            raise BindError(
                f"agreement '{agreement.name}' has no line for '{listed}'",
                rule.columns[0].span,
                suggest(listed, known, "its columns"),
                code="unknown_column",
            )
        what = f"'{listed}' contradicts agreement '{agreement.name}'"
        if agreed.role is not rule.role:
            raise BindError(
                f"{what}: its role there is {agreed.role}", rule.span, hint, code="not_agreed"
            )
        if agreed.private_to is None:
            _check_treatments(what, rule, agreed, mine, words, hint)
        elif site is None or Name(site) != agreed.private_to:
            raise BindError(
                f"'{listed}' is private to '{agreed.private_to}' in agreement '{agreement.name}'",
                rule.span,
                f"leave it out; at that site write WITH (…, site = '{agreed.private_to}')",
                code="not_agreed",
            )


def is_private_line(agreement: CreateAgreement, rule: ColumnRule) -> bool:
    """Whether the columns of a line are private to a site."""
    agreed = next((one for one in agreement.rules if _names(one) == _names(rule)), None)
    return agreed is not None and agreed.private_to is not None


def _check_treatments(
    what: str,
    rule: ColumnRule,
    agreed: ColumnRule,
    mine: BoundRule,
    words: Mapping[str, type[Treatment]],
    hint: str,
) -> None:
    here = [call.keyword for call in rule.treatments]
    there = [call.keyword for call in agreed.treatments]
    if here != there:
        said = chain(there) or "no treatment"
        raise BindError(
            f"{what}: its treatment there is {said}", rule.span, hint, code="not_agreed"
        )
    for step, (call, treatment) in zip(
        mine.steps, _chain(agreed, mine.columns, words), strict=False
    ):
        if step.treatment != treatment:
            # Which arguments there are is no secret; what they are stays in the store.
            raise BindError(
                f"{what}: {call.keyword} has other arguments there{_different(rule, call)}",
                step.span,
                hint,
                code="not_agreed",
            )


def _different(rule: ColumnRule, agreed: TreatmentCall) -> str:
    (mine,) = [call for call in rule.treatments if call.keyword == agreed.keyword][:1]
    here = {argument.name: argument.value for argument in mine.arguments}
    there = {argument.name: argument.value for argument in agreed.arguments}
    names = [
        name for name in {**there, **here} if name is not None and here.get(name) != there.get(name)
    ]
    return f" ({', '.join(names)})" if names else ""


def _names(rule: ColumnRule) -> tuple[Name, ...]:
    return tuple(column.name for column in rule.columns)
