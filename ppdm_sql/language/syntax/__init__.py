"""What a statement says, before anything is looked up. Frozen values, no I/O.

Spans are excluded from equality, and everything that may hold a parameter is excluded from
`repr`: a statement can be printed anywhere. One file an idea; all are imported from here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ppdm_sql.language.syntax.agreements import (
    AgreementStatement,
    CreateAgreement,
    DescribeAgreement,
    DropAgreement,
    ExportAgreement,
    ImportAgreement,
    ShowAgreements,
)
from ppdm_sql.language.syntax.hierarchies import (
    CreateHierarchy,
    DateBody,
    DescribeHierarchy,
    DigitsBody,
    DropHierarchy,
    ExplainHierarchies,
    FileBody,
    HierarchyBody,
    RangesBody,
    ShowHierarchies,
    TableBody,
    TreeBody,
)
from ppdm_sql.language.syntax.publish_audit_interpret import (
    AuditRelease,
    InterpretPredicate,
    InterpretTable,
    PublishRelease,
    ReleaseName,
    ShowPublications,
)
from ppdm_sql.language.syntax.releases import (
    Condition,
    CreateRelease,
    DescribeRelease,
    DropRelease,
    ExplainRelease,
    FileSource,
    GeneralizeClause,
    GeneralizedColumn,
    QuerySource,
    RefreshRelease,
    ShowReleases,
    ShowTreatments,
    Source,
    TableSource,
    TargetClause,
)
from ppdm_sql.language.syntax.rules import (
    Argument,
    ColumnName,
    ColumnRule,
    Option,
    Reference,
    Role,
    TreatmentCall,
    Value,
)

if TYPE_CHECKING:
    from ppdm_sql.errors import Span


@dataclass(frozen=True, slots=True)
class PlainSql:
    """Anything that is not ours: handed to DuckDB letter by letter."""

    text: str = field(repr=False)
    span: Span | None = field(default=None, compare=False, repr=False)


ReleaseStatement: TypeAlias = (
    CreateRelease
    | DropRelease
    | RefreshRelease
    | ShowReleases
    | ShowTreatments
    | DescribeRelease
    | ExplainRelease
    | InterpretPredicate
    | InterpretTable
    | PublishRelease
    | ShowPublications
)
HierarchyStatement: TypeAlias = (
    CreateHierarchy | DropHierarchy | ShowHierarchies | DescribeHierarchy | ExplainHierarchies
)
OwnStatement: TypeAlias = ReleaseStatement | HierarchyStatement | AgreementStatement | AuditRelease
Statement: TypeAlias = OwnStatement | PlainSql

__all__ = [
    "AgreementStatement",
    "Argument",
    "AuditRelease",
    "ColumnName",
    "ColumnRule",
    "Condition",
    "CreateAgreement",
    "CreateHierarchy",
    "CreateRelease",
    "DateBody",
    "DescribeAgreement",
    "DescribeHierarchy",
    "DescribeRelease",
    "DigitsBody",
    "DropAgreement",
    "DropHierarchy",
    "DropRelease",
    "ExplainHierarchies",
    "ExplainRelease",
    "ExportAgreement",
    "FileBody",
    "FileSource",
    "GeneralizeClause",
    "GeneralizedColumn",
    "HierarchyBody",
    "HierarchyStatement",
    "ImportAgreement",
    "InterpretPredicate",
    "InterpretTable",
    "Option",
    "OwnStatement",
    "PlainSql",
    "PublishRelease",
    "QuerySource",
    "RangesBody",
    "Reference",
    "RefreshRelease",
    "ReleaseName",
    "ReleaseStatement",
    "Role",
    "ShowAgreements",
    "ShowHierarchies",
    "ShowPublications",
    "ShowReleases",
    "ShowTreatments",
    "Source",
    "Statement",
    "TableBody",
    "TableSource",
    "TargetClause",
    "TreatmentCall",
    "TreeBody",
    "Value",
]
