"""The script of a release as it may be shown: every column, role and treatment, no parameter."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ppdm_sql.language.syntax import FileSource, QuerySource
from ppdm_sql.language.unparse import unparse
from ppdm_sql.names import STORE_CATALOG, QualifiedName

if TYPE_CHECKING:
    from ppdm_sql.language.syntax import ColumnRule, CreateRelease, Source

HIDDEN = "…"


def redacted(statement: CreateRelease) -> str:
    """Return the text of a release with arguments, conditions and queries left out.

    Targets such as `k = 5` stay: a release reaches them in the open. Which values one names does not.
    """
    generalize = statement.generalize
    if generalize is not None and generalize.when is not None:
        generalize = replace(generalize, when=replace(generalize.when, text=HIDDEN))
    if generalize is not None:
        named = (
            replace(one, values=(HIDDEN,)) if one.values else one for one in generalize.targets
        )
        generalize = replace(generalize, targets=tuple(named))
    shown = replace(
        statement,
        source=_source(statement.source),
        rules=tuple(_rule(rule) for rule in statement.rules),
        generalize=generalize,
    )
    return unparse(shown).replace(f"'{HIDDEN}'", HIDDEN)


def _source(source: Source) -> Source:
    match source:
        case QuerySource():
            return QuerySource(HIDDEN)
        case FileSource():
            return FileSource(HIDDEN)
        case _:
            # The name under which we attach the owner's database means nothing elsewhere.
            parts = source.name.parts
            shown = parts[1:] if parts[0] == STORE_CATALOG else parts
            return replace(source, name=QualifiedName(shown))


def _rule(rule: ColumnRule) -> ColumnRule:
    # A nested call goes too: which operation a column gets is part of the secret of `hybrid`.
    treatments = tuple(
        replace(call, arguments=tuple(replace(one, value=HIDDEN) for one in call.arguments))
        for call in rule.treatments
    )
    return replace(rule, treatments=treatments)
