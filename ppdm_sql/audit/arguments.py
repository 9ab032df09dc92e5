"""What `Owner.audit` is called with, as a statement; a mistake is told before anything is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ppdm_sql.audit.report.requirements import parse_requirements
from ppdm_sql.errors import BindError
from ppdm_sql.language.audit import parse_background
from ppdm_sql.language.script import parse_name
from ppdm_sql.language.syntax import AuditRelease

if TYPE_CHECKING:
    from ppdm_sql.audit.report.outcome import Requirement
    from ppdm_sql.names import Name


def audit_statement(
    release: object, against: object, into: object, together_with: object = ()
) -> AuditRelease:
    """Return the statement that these arguments stand for."""
    if not isinstance(release, str):
        raise TypeError(f"audit() takes the name of a release, not {_type(release)}")
    if not isinstance(against, str | None):
        raise TypeError(
            f"against= takes the name of a table or view, not {_type(against)}: "
            "owner.connection.register('background', frame) gives a frame a name"
        )
    if not isinstance(into, str | None):
        raise TypeError(f"into= takes the name of a schema, not {_type(into)}")
    named = [together_with] if isinstance(together_with, str) else together_with
    if not isinstance(named, Sequence) or not all(isinstance(one, str) for one in named):
        raise TypeError(
            f"together_with= takes names of releases in a list, not {_type(together_with)}"
        )
    return AuditRelease(
        parse_name(release),
        None if against is None else parse_background(against),
        None if into is None else _schema_name(into),
        together_with=tuple(parse_name(one) for one in named),
    )


def requirements_of(require: object) -> list[Requirement]:
    """Return what is required: a text with commas between, or a list of texts."""
    if require is None:
        return []
    given: Sequence[object] = [require]
    if isinstance(require, Sequence) and not isinstance(require, str):
        given = require
    texts = []
    for text in given:
        if not isinstance(text, str):
            raise TypeError(
                "require= takes a text such as 'k>=5, prosecutor<=0.2', or a list of such texts, "
                f"not {_type(text)}"
            )
        texts.append(text)
    return parse_requirements(texts)


def _type(value: object) -> str:
    # Never the value: it may be data.
    return type(value).__name__


def _schema_name(text: str) -> Name:
    """Return a schema of the owner's database."""
    name = parse_name(text, "the name of a schema")
    if name.schema is not None:
        raise BindError(
            f"'{name}' is not the name of a schema",
            hint="write a name without a dot",
            code="bad_name",
        )
    return name.name
