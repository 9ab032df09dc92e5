"""What is done with a release that is there: published, read back, audited."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax.rules import Option
    from ppdm_sql.names import Name, QualifiedName


@dataclass(frozen=True, slots=True)
class ReleaseName:
    """A release as a list of releases names it."""

    name: QualifiedName
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PublishRelease:
    """PUBLISH RELEASE name [, name …] TO 'path' [(FORMAT word)] [WITH ( options )]."""

    releases: tuple[ReleaseName, ...]
    path: str
    format: str | None = None
    """Folded; which formats there are is not known here. None: as the path says."""
    options: tuple[Option, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)
    format_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowPublications:
    """SHOW PUBLICATIONS."""

    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InterpretPredicate:
    """INTERPRET RELEASE name [VERSION n | PUBLICATION 'name'] [PASSING OTHERS] WHERE predicate."""

    name: QualifiedName
    predicate: str = field(repr=False)
    """Its text: what it means depends on the columns of the release."""
    passes_others: bool = False
    version: int | None = None
    """Whose results they are; None: those of the newest."""
    span: Span | None = field(default=None, compare=False, repr=False)
    predicate_span: Span | None = field(default=None, compare=False, repr=False)
    version_span: Span | None = field(default=None, compare=False, repr=False)
    publication: str | None = None
    """The publication that the results come from: it may have pseudonyms of its own."""


@dataclass(frozen=True, slots=True)
class InterpretTable:
    """INTERPRET RELEASE name [VERSION number | PUBLICATION 'name'] TABLE results."""

    name: QualifiedName
    table: QualifiedName
    version: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    table_span: Span | None = field(default=None, compare=False, repr=False)
    version_span: Span | None = field(default=None, compare=False, repr=False)
    publication: str | None = None


@dataclass(frozen=True, slots=True)
class AuditRelease:
    """AUDIT RELEASE name, … [TOGETHER WITH name, …] [AGAINST table] [INTO schema] [TO 'a.html']."""

    name: QualifiedName
    against: QualifiedName | None = None
    """A table that somebody outside may have."""
    into: Name | None = None
    """The schema that gets the audit as tables."""
    path: str | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    against_span: Span | None = field(default=None, compare=False, repr=False)
    into_span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)
    together_with: tuple[QualifiedName, ...] = ()
    """Other releases of the same persons."""
    together_places: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    also: tuple[ReleaseName, ...] = ()
    """Releases that are audited after it, in the same way."""

    @property
    def each(self) -> tuple[AuditRelease, ...]:
        """The same of every release that is named."""
        first = replace(self, also=())
        return (first, *(replace(first, name=one.name, span=one.span) for one in self.also))

    @property
    def together_spans(self) -> tuple[Span | None, ...]:
        """Where each of them stands; None for what was called from Python."""
        return self.together_places or (None,) * len(self.together_with)
