"""Whose pseudonyms a publication has: those of the store, of its recipient, or its own.

Only what links rows depends on that. Noise and shifts of dates are the same for everybody: two
recipients who compared different noise of one value would average it away.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import Refused
from ppdm_sql.language.syntax import Role
from ppdm_sql.store import parameters
from ppdm_sql.store.keys import RootKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.parameters import Drawn
    from ppdm_sql.release.model import BoundRule, Release, Step
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.parameters import VersionStorage
    from ppdm_sql.store.publications import Publication


def recipient_scope(recipient: str) -> str:
    """Return the scope of everything that one recipient gets."""
    return f"recipient:{recipient}"


def publication_scope(publication: str) -> str:
    """Return the scope of one publication alone."""
    return f"publication:{publication}"


def publication_keys(root: RootKey, publication: Publication, name: QualifiedName) -> RootKey:
    """Return the keys that the pseudonyms of a release have in a publication."""
    if publication.key_scope is not None:
        return RootKey(root.derive("key scope", publication.key_scope))
    if publication.unlinkable:  # by an earlier program: each release had keys of its own
        folded = (part.folded for part in name.parts)
        return RootKey(root.derive("publication", "\0".join((publication.name, *folded))))
    return root


def linking(release: Release) -> Iterator[tuple[BoundRule, Step, str]]:
    """Return the treatments whose values meet equal ones elsewhere, and where they meet."""
    for stage in range(release.depth):
        for rule, step in release.stage(stage):
            if step.treatment.traits.links_rows:
                yield rule, step, step.treatment.link()


@dataclass(frozen=True, slots=True)
class _OtherKeys:
    """A version under other keys: the parameter row is another, the tables are the same."""

    usual: VersionStorage
    parameters: QualifiedName

    def parameter_table(self) -> QualifiedName:
        return self.parameters

    def lookup_table(self, slot: str, table: str) -> QualifiedName:
        return self.usual.lookup_table(slot, table)


@contextmanager
def under_keys(root: RootKey, version: Version, publication: Publication) -> Iterator[Version]:
    """Give a version with the pseudonyms that it has in a publication."""
    keys = publication_keys(root, publication, version.entry.name)
    redrawn = [] if keys == root else list(linking(version.release))
    if not redrawn:
        yield version
        return
    row = dict(parameters.read_row(version.engine, version.entry.storage, version.entry.tables))
    for rule, step, _ in redrawn:
        if version.release.grouping is not None and rule.role is Role.QUASI:
            # Its pseudonyms are part of the combinations that GENERALIZE knows.
            raise Refused(
                f"'{rule.names[0]}' cannot be made unlinkable: GENERALIZE builds on its values",
                hint="give it another role, or another treatment",
                code="not_unlinkable",
            )
        row |= parameters.parameters_of({step.slot: _redrawn(rule, step, keys)})
    # The store keeps nothing of this: the keys follow from the scope, which the ledger has.
    with version.engine.lend(parameters.one_row(row)) as lent:
        yield replace(version, storage=_OtherKeys(version.entry.storage, lent))


def _redrawn(rule: BoundRule, step: Step, keys: RootKey) -> Drawn:
    """Return what a treatment draws under other keys, where no other one builds on its values."""
    after = rule.steps[rule.steps.index(step) :]
    if not all(later.treatment.traits.draws_from_keys for later in after):
        raise Refused(
            f"'{rule.names[0]}' cannot be made unlinkable: what comes after {step.treatment.keyword}"
            " was drawn from its values",
            hint=f"let {step.treatment.keyword} be the last treatment of the column",
            code="not_unlinkable",
        )
    return step.treatment.draw({}, keys, None)
