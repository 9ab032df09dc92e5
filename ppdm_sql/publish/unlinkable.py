"""Publications whose releases cannot be joined: each has pseudonyms under keys of its own."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ppdm_sql.errors import Refused
from ppdm_sql.language.syntax import Role
from ppdm_sql.publish.linking import linking, refuse_other_links
from ppdm_sql.store import parameters
from ppdm_sql.store.publications import publication_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.names import QualifiedName
    from ppdm_sql.parameters import Drawn
    from ppdm_sql.release.model import BoundRule, Step
    from ppdm_sql.release.releases import Releases
    from ppdm_sql.release.version import Version
    from ppdm_sql.store.keys import RootKey
    from ppdm_sql.store.parameters import VersionStorage
    from ppdm_sql.store.publications import Publication


@dataclass(frozen=True, slots=True)
class _OtherKeys:
    """A version under keys of its own: the parameter row is another, the tables are the same."""

    usual: VersionStorage
    parameters: QualifiedName

    def parameter_table(self) -> QualifiedName:
        return self.parameters

    def lookup_table(self, slot: str, table: str) -> QualifiedName:
        return self.usual.lookup_table(slot, table)


@contextmanager
def under_keys(releases: Releases, version: Version, publication: Publication) -> Iterator[Version]:
    """Give a version with its pseudonyms under keys of their own, if that is asked for."""
    release, entry = version.release, version.entry
    if publication.unlinkable:
        refuse_other_links(releases, version)
    redrawn = list(linking(release)) if publication.unlinkable else []
    if not redrawn:
        yield version
        return
    if release.agreement is not None:
        raise Refused(
            f"'{entry.name}' is made under an agreement, so that sites can join on its pseudonyms",
            hint="leave unlinkable out, or release the table without the agreement",
            code="not_agreed",
        )
    keys = publication_keys(releases.keys, publication.name, entry.name)
    row = dict(parameters.read_row(version.engine, entry.storage, entry.tables))
    for rule, step, _ in redrawn:
        if release.grouping is not None and rule.role is Role.QUASI:
            # Its pseudonyms are part of the combinations that GENERALIZE knows.
            raise Refused(
                f"'{rule.names[0]}' cannot be made unlinkable: GENERALIZE builds on its values",
                hint="give it another role, or another treatment",
                code="not_unlinkable",
            )
        row |= parameters.parameters_of({step.slot: _redrawn(rule, step, keys)})
    # The store keeps nothing of this: the keys follow from the name of the publication.
    with version.engine.lend(parameters.one_row(row)) as lent:
        yield replace(version, storage=_OtherKeys(entry.storage, lent))


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
