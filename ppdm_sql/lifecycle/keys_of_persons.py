"""What is to be said of a KEY: that it shows who a row is about, or that it names nobody for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ppdm_sql.language.syntax import Role
from ppdm_sql.release.row_key import numbers_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.release.model import Release

_KEPT = (
    "the KEY '{}' is released unchanged: whoever knows a person's KEY finds their rows; write KEY "
    "without a treatment, which is not released, or KEY AS pseudonym()"
)
_NUMBERED = (
    "the KEY '{}' numbers the rows: where one is deleted or loaded in another place, it is another"
    " person's, and so are pseudonyms and noise; number the rows once, in the table: CREATE TABLE … AS"
    " SELECT row_number() OVER () AS id, * FROM …"
)


def said_of_keys(release: Release) -> Iterator[str]:
    """Return warnings of the KEY."""
    for rule in release.released_rules:
        is_shown = (one.shows_originals or one.shows_some_originals for one in rule.traits)
        if rule.role is Role.KEY and all(is_shown):
            yield from map(_KEPT.format, rule.names)
    key = release.key
    traits = [one for rule in release.released_rules for one in rule.traits]
    is_used = any(one.uses_row_key or one.draws_from_keys for one in traits)
    if key is not None and is_used and numbers_rows(release.source, key.name):
        yield _NUMBERED.format(key.name)
