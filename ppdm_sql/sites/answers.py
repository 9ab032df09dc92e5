"""What statements about agreements answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.engine.result import Result
from ppdm_sql.language.syntax import (
    AgreementStatement,
    CreateAgreement,
    DescribeAgreement,
    DropAgreement,
    ExportAgreement,
    ImportAgreement,
    ShowAgreements,
)

if TYPE_CHECKING:
    from ppdm_sql.sites.agreements import Agreements


def run_agreement(known: Agreements, statement: AgreementStatement) -> Result:
    """Run one statement about agreements."""
    match statement:
        case CreateAgreement():
            made = known.create(statement)
            return Result(message=f"created agreement {made.name} ({made.fingerprint})")
        case DropAgreement():
            done = "dropped" if known.drop(statement) else "there was no"
            return Result(message=f"{done} agreement {statement.name}")
        case ExportAgreement():
            made = known.export(statement)
            return Result(message=f"sealed agreement {made.name} in '{statement.path}'")
        case ImportAgreement():
            made, is_new = known.bring_in(statement)
            done = "imported" if is_new else "there was already"
            return Result(message=f"{done} agreement {made.name} ({made.fingerprint})")
        case DescribeAgreement():
            return Result(known.describe(statement))
        case ShowAgreements():
            return Result(known.show())
