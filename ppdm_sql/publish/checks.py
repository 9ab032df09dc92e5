"""What is checked of a release that is published: before it is written, and of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from ppdm_sql.engine.sql import column_of, named
from ppdm_sql.errors import EngineError, InternalError, Refused, TreatmentError, plural
from ppdm_sql.groups.compile import find_grouping
from ppdm_sql.groups.run import Generalizing
from ppdm_sql.lifecycle.averages import noise_that_averages
from ppdm_sql.lifecycle.identifying import (
    identifying_aggregates,
    identifying_columns,
    identifying_groups,
)
from ppdm_sql.lifecycle.twins import estimates, find_twins, go_together
from ppdm_sql.publish.shown_by_person import linked_k
from ppdm_sql.publish.snapshot import ROWS
from ppdm_sql.release.acceptance import raise_unaccepted
from ppdm_sql.release.compile import KEYED_ROWS, KEYS, counts_query, source_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ppdm_sql.engine.duckdb import Engine
    from ppdm_sql.publish.snapshot import Snapshot
    from ppdm_sql.release.acceptance import Acceptance
    from ppdm_sql.release.version import Version


def check_again(version: Version, accepted: tuple[Acceptance, ...]) -> tuple[str, ...]:
    """Refuse what CREATE RELEASE would refuse of the rows as they are now.

    Returns what it would warn of: columns that go together with a generalized one.
    """
    release = version.release
    query = counts_query(version, identifying_aggregates(release) | estimates(release))
    found: dict[str, Any] = {}
    if query is not None:
        (found,) = version.engine.query(query).to_pylist()
        raise_unaccepted(identifying_columns(version, found)[0], accepted)
        if KEYS in found:
            raise_unaccepted(noise_that_averages(release, found[KEYED_ROWS], found[KEYS]), accepted)
    raise_unaccepted(identifying_groups(version), accepted)
    raise_unaccepted(find_twins(version), accepted)
    return tuple(f"{version.entry.name}: {one}" for one in go_together(version, found, accepted))


def verify_targets(
    version: Version, snapshot: Snapshot, accepted: tuple[Acceptance, ...]
) -> tuple[str, ...]:
    """Hold the rows of today against what a version promises; return the targets it reaches.

    GENERALIZE is measured again: rows that came since the release was made are in it, too. Raises
    when a target is missed; then nothing is published.
    """
    grouping = find_grouping(version.release)
    if grouping is None:
        return ()
    generalizing = Generalizing(version, lambda _: None)
    population = generalizing.population()
    generalizing.verify(population)
    linked = generalizing.linked_rows(population)
    objection = generalizing.linking_objection(linked)
    raise_unaccepted([objection] if objection else [], accepted)
    only = " (high class only)" if grouping.when is not None else ""
    said = [f"{target}{only}" for target in grouping.targets]
    if linked is not None:
        said.append(f"k = {linked_k(snapshot)} over all rows of a person{only}")
    if grouping.hides_sensitive(version.release):
        said.append("rows kept as * show no SENSITIVE value")
    return tuple(said)


def compare(snapshot: Snapshot, shown: Sequence[exp.Expr], written: exp.Expr) -> None:
    """Raise unless a file holds exactly the rows that were to be written, however often each."""
    engine = snapshot.version.engine
    expected = exp.select(*(tree.copy() for tree in shown)).from_(snapshot.rows())
    wanted = engine.columns(expected)
    found = engine.columns(exp.select("*").from_(written.copy()))
    if [name for name, _ in found] != [name for name, _ in wanted]:
        raise InternalError(f"the columns of '{snapshot.version.entry.name}' are not those written")
    there = [
        # Parquet has other types for some; what matters is that the values come back.
        named(_as(column_of(name, ROWS), type_ if type_ != is_type else None), name)
        for (name, type_), (_, is_type) in zip(wanted, found, strict=True)
    ]
    whole = exp.select("*").from_(written.copy())
    back = exp.select(*there).from_(whole.subquery(exp.to_identifier(ROWS, quoted=True)))
    names = [name for name, _ in wanted]
    try:
        same = _digest(engine, expected, names) == _digest(engine, back, names)
    except EngineError:
        same = False
    if not same:
        raise Refused(
            f"'{snapshot.version.entry.name}' could not be written unchanged: the type of one of its"
            " columns does not exist in this format",
            hint="publish it to a DuckDB file, or cast the column in a (SELECT …) source",
            code="wrong_type",
        )


def check_pseudonyms(version: Version, written: exp.Expr, columns: Sequence[str]) -> None:
    """Raise when other keys made fewer names of as many values."""
    usual = (_originals(version, columns) or version.select()).subquery(
        exp.to_identifier(ROWS, quoted=True)
    )
    before, after = (_distinct(version.engine, rows, columns) for rows in (usual, written.copy()))
    for column, expected, found in zip(columns, before, after, strict=True):
        if found < expected:
            lost = plural(expected - found, "value")
            raise TreatmentError(
                f"{lost} of '{column}' would get the same pseudonym as another, or none",
                hint="write REFRESH RELEASE, which says what does not fit; else publish again, which"
                " draws another key, or write a longer pseudonym: length => …",
                code="names_collide",
            )


def _originals(version: Version, columns: Sequence[str]) -> exp.Select | None:
    """Return the texts that names are made of, where each is made of one and no row is left out.

    They need not be named a second time to be counted.
    """
    release = version.release
    sources = {
        name.text: column
        for rule in release.released_rules
        for name, column in zip(rule.names, rule.columns, strict=True)
        if len(rule.steps) == 1
    }
    if release.grouping is not None or not sources.keys() >= set(columns):
        return None
    shown = [
        named(
            exp.Collate(
                this=exp.cast(column_of(sources[name].name.text, ROWS), "VARCHAR"),
                expression=exp.to_identifier("C", quoted=True),
            ),
            name,
        )
        for name in columns
    ]
    return exp.select(*shown).from_(source_table(release.source, ROWS))


def _distinct(engine: Engine, rows: exp.Expr, columns: Sequence[str]) -> list[int]:
    counts = [
        exp.alias_(
            exp.Count(this=exp.Distinct(expressions=[_column(column)])),
            exp.to_identifier(f"c{index}", quoted=True),
        )
        for index, column in enumerate(columns)
    ]
    (row,) = engine.query(exp.select(*counts).from_(rows)).to_pylist()
    return list(row.values())


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))


def _digest(engine: Engine, rows: exp.Select, names: Sequence[str]) -> tuple[object, ...]:
    """Return the number of rows and the sum of their hashes: the same for the same rows."""
    hashed = exp.Anonymous(this="hash", expressions=[column_of(name, ROWS) for name in names])
    shown = [named(exp.Count(this=exp.Star()), "rows"), named(exp.Sum(this=hashed), "sum")]
    query = exp.select(*shown).from_(rows.subquery(exp.to_identifier(ROWS, quoted=True)))
    (row,) = engine.query(query).to_pylist()
    return tuple(row.values())


def _as(column: exp.Expr, type_: str | None) -> exp.Expr:
    return column if type_ is None else exp.Cast(this=column, to=exp.var(type_))
