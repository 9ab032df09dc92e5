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
from ppdm_sql.language.syntax.studies import (
    AcrossClause,
    AuditStudy,
    CreateStudy,
    DescribeStudy,
    DropStudy,
    Member,
    PublishStudy,
    RefreshStudy,
    ShowStudies,
    StudyStatement,
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
OwnStatement: TypeAlias = (
    ReleaseStatement | HierarchyStatement | AgreementStatement | AuditRelease | StudyStatement
)
Statement: TypeAlias = OwnStatement | PlainSql

__all__ = [
    "AcrossClause",
    "AgreementStatement",
    "Argument",
    "AuditRelease",
    "AuditStudy",
    "ColumnName",
    "ColumnRule",
    "Condition",
    "CreateAgreement",
    "CreateHierarchy",
    "CreateRelease",
    "CreateStudy",
    "DateBody",
    "DescribeAgreement",
    "DescribeHierarchy",
    "DescribeRelease",
    "DescribeStudy",
    "DigitsBody",
    "DropAgreement",
    "DropHierarchy",
    "DropRelease",
    "DropStudy",
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
    "Member",
    "Option",
    "OwnStatement",
    "PlainSql",
    "PublishRelease",
    "PublishStudy",
    "QuerySource",
    "RangesBody",
    "Reference",
    "RefreshRelease",
    "RefreshStudy",
    "ReleaseName",
    "ReleaseStatement",
    "Role",
    "ShowAgreements",
    "ShowHierarchies",
    "ShowPublications",
    "ShowReleases",
    "ShowStudies",
    "ShowTreatments",
    "Source",
    "Statement",
    "StudyStatement",
    "TableBody",
    "TableSource",
    "TargetClause",
    "TreatmentCall",
    "TreeBody",
    "Value",
]
