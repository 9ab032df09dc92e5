"""What is said of studies: releases that go out together, about the same persons."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax.publish_audit_interpret import ReleaseName
    from ppdm_sql.language.syntax.releases import TargetClause
    from ppdm_sql.language.syntax.rules import Option
    from ppdm_sql.names import Name, QualifiedName


@dataclass(frozen=True, slots=True)
class Member:
    """A release of a study: `research.labs AT MOST 5 ROWS PER patient`."""

    name: QualifiedName
    most_rows: int | None = None
    """How many rows of a person go out; None: all."""
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AcrossClause:
    """UNTIL targets [ACROSS release, …] [SUPPRESS AT MOST n PERCENT]."""

    targets: tuple[TargetClause, ...]
    releases: tuple[ReleaseName, ...] = ()
    """Those whose rows are put together; none: all of the study."""
    percent: int | float = 0
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class CreateStudy:
    """CREATE [OR REPLACE] STUDY name OF release, … PERSON word [UNTIL …] [WITH ( options )]."""

    name: Name
    members: tuple[Member, ...]
    person: Name
    across: AcrossClause | None = None
    options: tuple[Option, ...] = ()
    replace: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)
    name_span: Span | None = field(default=None, compare=False, repr=False)
    person_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DropStudy:
    """DROP STUDY [IF EXISTS] name."""

    name: Name
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RefreshStudy:
    """REFRESH STUDY name."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowStudies:
    """SHOW STUDIES."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DescribeStudy:
    """DESCRIBE STUDY name."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PublishStudy:
    """PUBLISH STUDY name TO 'path' [(FORMAT word)] [WITH ( options )]."""

    name: Name
    path: str
    format: str | None = None
    options: tuple[Option, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    name_span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)
    format_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class AuditStudy:
    """AUDIT STUDY name [TO 'report.html']."""

    name: Name
    path: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)


StudyStatement: TypeAlias = (
    CreateStudy | DropStudy | RefreshStudy | ShowStudies | DescribeStudy | PublishStudy | AuditStudy
)
