"""What is said of agreements: what several sites share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax.rules import ColumnRule
    from ppdm_sql.names import Name


@dataclass(frozen=True, slots=True)
class CreateAgreement:
    """CREATE AGREEMENT name ( rules )."""

    name: Name
    rules: tuple[ColumnRule, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DropAgreement:
    """DROP AGREEMENT [IF EXISTS] name."""

    name: Name
    if_exists: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExportAgreement:
    """EXPORT AGREEMENT name TO 'file'."""

    name: Name
    path: str
    span: Span | None = field(default=None, compare=False, repr=False)
    path_span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImportAgreement:
    """IMPORT AGREEMENT FROM 'file'."""

    path: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DescribeAgreement:
    """DESCRIBE AGREEMENT name."""

    name: Name
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ShowAgreements:
    """SHOW AGREEMENTS."""

    span: Span | None = field(default=None, compare=False, repr=False)


AgreementStatement: TypeAlias = (
    CreateAgreement
    | DropAgreement
    | ExportAgreement
    | ImportAgreement
    | DescribeAgreement
    | ShowAgreements
)
