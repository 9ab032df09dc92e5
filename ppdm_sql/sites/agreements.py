"""CREATE, EXPORT, IMPORT, DROP AGREEMENT: what sites share, and the sealed file it travels in."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from ppdm_sql.delivery.outside_file import (
    drafts_of,
    put_new,
    refuse_in_transaction,
    write_draft,
)
from ppdm_sql.errors import BindError, Refused, StoreError, placed_at, suggest
from ppdm_sql.language.unparse import treatment_text, unparse
from ppdm_sql.names import Name
from ppdm_sql.release.agreed import agreement_statement, check_agreement
from ppdm_sql.release.bind import check_new_names
from ppdm_sql.release.version import definition_of
from ppdm_sql.sites.sealing import seal, unseal
from ppdm_sql.store import agreements, catalog
from ppdm_sql.store.agreements import Agreement
from ppdm_sql.store.keys import ROOT_KEY_BYTES, new_root_key
from ppdm_sql.store.publications import list_publications

if TYPE_CHECKING:
    from collections.abc import Callable

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import (
        CreateAgreement,
        DescribeAgreement,
        DropAgreement,
        ExportAgreement,
        ImportAgreement,
    )
    from ppdm_sql.release.releases import Releases

PASSPHRASE = "PPDM_PASSPHRASE"  # noqa: S105 - the name of a variable, not a secret
_LARGEST_FILE = 16 * 1024 * 1024


def passphrase_of_environment(is_new: bool) -> str:
    """Return the passphrase that the environment holds; raise when it holds none."""
    passphrase = os.environ.get(PASSPHRASE)
    if not passphrase:
        raise StoreError(
            "there is no passphrase for the agreement file",
            hint=f"set {PASSPHRASE}, or use `ppdm run` on a terminal, which asks for it",
            code="passphrase",
        )
    return passphrase


@dataclass(frozen=True)
class Agreements:
    """The agreements of one store."""

    releases: Releases
    ask: Callable[[bool], str] = field(default=passphrase_of_environment, repr=False)
    """Gives the passphrase; told whether it is a new one."""

    def create(self, statement: CreateAgreement) -> Agreement:
        """CREATE AGREEMENT: with a key that nobody has yet."""
        engine = self.releases.engine
        check_new_names(statement)
        words = {treatment.keyword: treatment for treatment in self.releases.treatments}
        check_agreement(statement, words)
        with engine.transaction():
            if agreements.find_agreement(engine, statement.name) is not None:
                raise BindError(
                    f"there is already an agreement '{statement.name}'",
                    statement.span,
                    "choose another name: what was agreed does not change",
                    code="agreement_exists",
                )
            made = Agreement(statement.name, unparse(statement), new_root_key())
            agreements.record_agreement(engine, made)
            return made

    def export(self, statement: ExportAgreement) -> Agreement:
        """EXPORT AGREEMENT: to a new file that a passphrase opens."""
        agreement = self.find(statement.name, statement.span)
        path = Path(statement.path)
        content = json.dumps(
            {
                "name": agreement.name.text,
                "definition": agreement.definition,
                "master_key": agreement.master_key.hex(),
            }
        )
        if os.path.lexists(path):
            raise Refused(
                f"'{path}' already exists",
                statement.path_span,
                "name a new file: no file is replaced",
                code="target_taken",
            )
        refuse_in_transaction(self.releases.engine, "EXPORT AGREEMENT", statement.span)
        sealed = seal(content.encode(), self.ask(True))
        try:
            with drafts_of([path]) as (draft,):
                write_draft(draft, sealed, 0o600)
                put_new(draft, path)
        except OSError as error:
            raise StoreError(
                f"'{path}' cannot be written: {error.strerror}",
                statement.path_span,
                code="not_written",
            ) from None
        return agreement

    def bring_in(self, statement: ImportAgreement) -> tuple[Agreement, bool]:
        """IMPORT AGREEMENT: return it, and whether it is new here."""
        try:
            with Path(statement.path).open("rb") as file:
                sealed = file.read(_LARGEST_FILE)
        except OSError as error:
            raise StoreError(
                f"'{statement.path}' cannot be read: {error.strerror}",
                statement.span,
                code="not_read",
            ) from None
        with placed_at(statement.span):
            brought = _agreement_of(unseal(sealed, self.ask(False)))
            words = {treatment.keyword: treatment for treatment in self.releases.treatments}
            check_agreement(agreement_statement(brought), words)
        engine = self.releases.engine
        with engine.transaction():
            there = agreements.find_agreement(engine, brought.name)
            if there is None:
                agreements.record_agreement(engine, brought)
            elif there != brought:
                raise Refused(
                    f"there is a different agreement named '{brought.name}' here",
                    statement.span,
                    "drop it first, or ask the other site for its newest file",
                    code="agreement_exists",
                )
            return brought, there is None

    def drop(self, statement: DropAgreement) -> bool:
        """DROP AGREEMENT: False if there was none; refused while a release rests on it."""
        engine = self.releases.engine
        with engine.transaction():
            there = agreements.find_agreement(engine, statement.name)
            if there is None and statement.if_exists:
                return False
            agreement = self.find(statement.name, statement.span)
            published = {
                (one.release_id, one.version): catalog.published_entry(
                    engine, one.release, one.release_id, one.version
                )
                for one in list_publications(engine)
            }
            for entry in (*catalog.list_entries(engine), *filter(None, published.values())):
                options = definition_of(entry).options
                named = [option.value for option in options if option.name == "agreement"]
                if any(Name(str(name)) == agreement.name for name in named):
                    raise Refused(
                        f"release '{entry.name}' depends on agreement '{agreement.name}'",
                        statement.span,
                        "drop the release first, if it was never published: results of what was"
                        " published are read back with the agreement",
                        code="in_use",
                    )
            agreements.forget_agreement(engine, agreement)
            return True

    def find(self, name: Name, span: Span | None) -> Agreement:
        """Return an agreement of the store; raise when there is none of that name."""
        engine = self.releases.engine
        found = agreements.find_agreement(engine, name)
        if found is None:
            known = [str(one.name) for one in agreements.list_agreements(engine)]
            raise BindError(
                f"there is no agreement '{name}'",
                span,
                suggest(name.text, known, "agreements"),
                code="unknown_agreement",
            )
        return found

    def describe(self, statement: DescribeAgreement) -> pa.Table:
        """DESCRIBE AGREEMENT: what was agreed, arguments included; for the owner's eyes."""
        agreement = self.find(statement.name, statement.span)
        rules = agreement_statement(agreement).rules
        return pa.table(
            {
                "column": [
                    ", ".join(str(column.name) for column in rule.columns) for rule in rules
                ],
                "role": [rule.role.value for rule in rules],
                "treatment": [treatment_text(rule) or None for rule in rules],
                "private_to": pa.array(
                    [rule.private_to.text if rule.private_to else None for rule in rules],
                    pa.string(),
                ),
            }
        )

    def show(self) -> pa.Table:
        """SHOW AGREEMENTS: names and fingerprints."""
        known = agreements.list_agreements(self.releases.engine)
        return pa.table(
            {
                "agreement": pa.array([str(one.name) for one in known], pa.string()),
                "fingerprint": pa.array([one.fingerprint for one in known], pa.string()),
                "columns": pa.array(
                    [
                        sum(len(rule.columns) for rule in agreement_statement(one).rules)
                        for one in known
                    ],
                    pa.int32(),
                ),
            }
        )


def _agreement_of(content: bytes) -> Agreement:
    try:
        fields = json.loads(content)
        key = bytes.fromhex(fields["master_key"])
        made = Agreement(Name(str(fields["name"])), str(fields["definition"]), key)
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            "the agreement file does not hold an agreement", code="bad_agreement_file"
        ) from None
    if len(key) != ROOT_KEY_BYTES or agreement_statement(made).name != made.name:
        raise StoreError("the agreement file does not hold an agreement", code="bad_agreement_file")
    return made
