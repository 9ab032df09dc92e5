"""Running statements: which room answers which, and what is said of it."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from ppdm_sql.audit.report.files import (
    audit_result,
    check_places,
    write_tables,
    written_beside,
)
from ppdm_sql.audit.run import audit_release
from ppdm_sql.delivery.outside_file import refuse_in_transaction
from ppdm_sql.engine.result import Result, in_a_row
from ppdm_sql.errors import PrivacyWarning, quoted_once
from ppdm_sql.groups.hierarchies import (
    create_hierarchy,
    describe_hierarchy,
    drop_hierarchy,
    list_hierarchies,
)
from ppdm_sql.interpret import run as interpreting
from ppdm_sql.language.error_places import located
from ppdm_sql.language.syntax import (
    AuditRelease,
    AuditStudy,
    CreateAgreement,
    CreateHierarchy,
    CreateRelease,
    CreateStudy,
    DescribeAgreement,
    DescribeHierarchy,
    DescribeRelease,
    DescribeStudy,
    DropAgreement,
    DropHierarchy,
    DropRelease,
    DropStudy,
    ExplainHierarchies,
    ExplainRelease,
    ExportAgreement,
    ImportAgreement,
    InterpretPredicate,
    InterpretTable,
    PlainSql,
    PublishRelease,
    PublishStudy,
    RefreshRelease,
    RefreshStudy,
    ShowAgreements,
    ShowHierarchies,
    ShowPublications,
    ShowReleases,
    ShowStudies,
    ShowTreatments,
)
from ppdm_sql.lifecycle import describe as answers
from ppdm_sql.lifecycle.messages import made_result
from ppdm_sql.lifecycle.release import create_release, drop_release, refresh_release
from ppdm_sql.publish.messages import publications_table, warn_of
from ppdm_sql.publish.run import publish
from ppdm_sql.sites.agreements import Agreements, passphrase_of_environment
from ppdm_sql.sites.answers import run_agreement
from ppdm_sql.store.claim import claim
from ppdm_sql.store.publications import list_publications
from ppdm_sql.studies.answers import drop_study, members_table, studies_table
from ppdm_sql.studies.audit import audit_study, study_result
from ppdm_sql.studies.publish import publish_study, refresh_study
from ppdm_sql.studies.study import create_study, said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ppdm_sql.audit.report.model import Report
    from ppdm_sql.audit.report.outcome import Requirement
    from ppdm_sql.language.syntax import Statement
    from ppdm_sql.publish.written import Published
    from ppdm_sql.release.releases import Releases

_CHANGING = (
    CreateRelease,
    RefreshRelease,
    DropRelease,
    CreateHierarchy,
    DropHierarchy,
    CreateAgreement,
    DropAgreement,
    ImportAgreement,
    CreateStudy,
    RefreshStudy,
    DropStudy,
)
"""Statements that change the store: those of several threads run one after another."""


@dataclass
class Session:
    """What statements of one connection share."""

    releases: Releases
    changing: RLock = field(default_factory=RLock)
    """Held by whoever changes the store."""
    ask: Callable[[bool], str] = passphrase_of_environment
    """Asks for the passphrase of an agreement file; whether it is new."""


def run(session: Session, statement: Statement, parameters: object = None) -> Result:
    """Run one statement, and say what there is to say of it."""
    releases, engine = session.releases, session.releases.engine
    with engine.work(), session.changing if isinstance(statement, _CHANGING) else nullcontext():
        match statement:
            case CreateRelease():
                return made_result("created", create_release(releases, statement))
            case RefreshRelease():
                with engine.transaction():
                    made = [refresh_release(releases, one) for one in statement.each]
                return made_result("refreshed", *made)
            case ShowTreatments():
                return Result(answers.treatments_table(releases.treatments))
            case DropRelease():
                found = drop_release(releases, statement)
                done = "dropped" if found else "there was no"
                return Result(message=f"{done} release {statement.name}")
            case ShowReleases():
                infos = answers.list_releases(releases)
                return Result(answers.show_table(infos))
            case DescribeRelease():
                columns = answers.describe_release(releases, statement)
                figures = answers.release_figures(releases, statement.name, statement.span)
                more = Result(answers.figures_table(figures)) if figures else None
                return Result(answers.describe_table(columns), more=more)
            case ExplainRelease():
                text = answers.explain_release(releases, statement)
                return Result(answers.explain_table(text))
            case CreateHierarchy():
                create_hierarchy(engine, statement)
                return Result(message=f"created hierarchy {statement.name}")
            case DropHierarchy():
                found = drop_hierarchy(engine, statement)
                done = "dropped" if found else "there was no"
                return Result(message=f"{done} hierarchy {statement.name}")
            case DescribeHierarchy():
                return Result(describe_hierarchy(engine, statement))
            case ShowHierarchies():
                return Result(answers.hierarchies_table(list_hierarchies(engine)))
            case ExplainHierarchies():
                return Result(answers.explain_hierarchies(releases, statement))
            case (
                CreateAgreement()
                | DropAgreement()
                | ExportAgreement()
                | ImportAgreement()
                | DescribeAgreement()
                | ShowAgreements()
            ):
                return run_agreement(Agreements(releases, session.ask), statement)
            case InterpretPredicate():
                answer = interpreting.interpret_predicate(releases, statement)
                return Result(interpreting.predicate_table(answer))
            case InterpretTable():
                results = interpreting.interpret_table(releases, statement)
                return Result(results.table, "\n".join(results.notes))
            case PublishRelease():
                return Result(message=publish_releases(session, statement, caller=6).message)
            case ShowPublications():
                return Result(publications_table(list_publications(engine)))
            case AuditRelease():
                answered = [audit_result(audit(session, one), one) for one in statement.each]
                return in_a_row(answered)
            case CreateStudy():
                study = create_study(releases, statement)
                for warning in said_of(study):
                    warnings.warn(quoted_once(warning), PrivacyWarning, stacklevel=4)
                listed = ", ".join(str(version.entry.name) for version in study.versions)
                return Result(message=f"created study {study.name} of {listed}")
            case RefreshStudy():
                return made_result("refreshed", *refresh_study(releases, statement))
            case DropStudy():
                found = drop_study(releases, statement)
                done = "dropped" if found else "there was no"
                return Result(message=f"{done} study {statement.name}")
            case ShowStudies():
                return Result(studies_table(releases))
            case DescribeStudy():
                return Result(members_table(releases, statement))
            case PublishStudy():
                return Result(message=publish_releases(session, statement, caller=6).message)
            case AuditStudy():
                return study_result(audit_study(releases, statement), statement)
            case PlainSql():
                return _plain(session, statement, parameters)


def audit(
    session: Session,
    statement: AuditRelease,
    paths: Sequence[Path] = (),
    is_internal: bool = False,
    requirements: Sequence[Requirement] = (),
) -> Report:
    """Audit a release, and write what is asked for: all of it, or nothing."""
    releases, engine = session.releases, session.releases.engine
    check_places(engine, statement)
    if statement.path is not None:
        paths = [*paths, Path(statement.path)]
    if paths:
        refuse_in_transaction(engine, "AUDIT to a file", statement.span)
    with engine.work():
        report = audit_release(releases, statement, is_internal, requirements)
        with written_beside(report, paths, statement.path_span):
            if statement.into is not None:
                write_tables(engine, report, statement.into)
    return report


def publish_releases(
    session: Session, statement: PublishRelease | PublishStudy, caller: int
) -> Published:
    """Publish, and warn of what that gives away; `caller` is so far up."""
    with session.releases.engine.work(), session.changing:
        claim(session.releases.engine)  # early: what is written is claimed again
        if isinstance(statement, PublishStudy):
            done = publish_study(session.releases, statement)
        else:
            done = publish(session.releases, statement)
    warn_of(done, caller)
    return done


def _plain(session: Session, statement: PlainSql, parameters: object) -> Result:
    engine = session.releases.engine
    with located(statement, parameters is not None):
        rows = engine.plain(statement.text, parameters)
    return Result(rows, shows_errors=engine.shows_errors, reading=engine.unread())
