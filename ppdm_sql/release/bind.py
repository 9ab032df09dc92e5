"""Statement and source schema to a `Release`: every error of names, roles and types arises here."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ppdm_sql.errors import BindError, Refused, suggest
from ppdm_sql.language.syntax import (
    ColumnRule,
    CreateAgreement,
    CreateRelease,
    FileSource,
    Role,
    Source,
    TableSource,
    TreatmentCall,
)
from ppdm_sql.names import OWNER_SCHEMA, RESERVED_HINT, Name, QualifiedName
from ppdm_sql.release.acceptance import accepted_in
from ppdm_sql.release.agreed import KEY_KINDS, agreed_identity, check_release, is_private_line
from ppdm_sql.release.ancestry import column_ancestors
from ppdm_sql.release.lineage import column_identity, column_origins, written_source
from ppdm_sql.release.model import BoundRule, Release, SourceCatalog, SourceColumn, Step
from ppdm_sql.release.options import options_of
from ppdm_sql.release.source_names import resolve_source
from ppdm_sql.release.steps import steps_of
from ppdm_sql.treatments.generalized_column import Generalize as Generalized
from ppdm_sql.treatments.protocol import ENTITY, InputColumn
from ppdm_sql.types import VARCHAR, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ppdm_sql.errors import Span
    from ppdm_sql.language.syntax import GeneralizeClause
    from ppdm_sql.release.model import RowClause
    from ppdm_sql.treatments.treatment import Treatment

    BindClause: TypeAlias = Callable[
        [
            GeneralizeClause,
            Sequence[BoundRule],
            Mapping[Name, SourceColumn],
            Mapping[str, str],
        ],
        RowClause,
    ]

_HEADER = "DESCRIBE FROM 'file' lists its columns; is its first line a header?"
_READS_FILES = re.compile(
    r"\bread_\w+|\bfrom\s*\(?\s*'|\.(?:csv|tsv|json|ndjson|txt)\b", re.IGNORECASE
)


def bind_release(
    statement: CreateRelease,
    catalog: SourceCatalog,
    treatments: Sequence[type[Treatment]],
    bind_clause: BindClause,
) -> Release:
    """Resolve every name and check every treatment against its columns."""
    _check_name(statement)
    _check_roles(statement)
    options = options_of(statement)
    agreement = _agreement(statement, catalog)
    source = resolve_source(statement, catalog)
    columns = {column.name: column for column in catalog.columns(source)}
    words = {treatment.keyword: treatment for treatment in treatments}
    _check_columns(statement, columns, catalog, source)
    _check_released(statement)
    rules = []
    for index, rule in enumerate(_separated(statement)):
        entity = _entity(rule, catalog)
        bound = tuple(
            replace(_followed(catalog, source, columns[column.name]), entity=entity)
            for column in rule.columns
        )
        is_private = agreement is not None and is_private_line(agreement, rule)
        if agreement is not None:
            _refuse_entity(rule)
        if agreement is not None and not is_private:
            bound = tuple(
                _agreed_column(column, rule, written.span)
                for column, written in zip(bound, rule.columns, strict=True)
            )
        steps = tuple(steps_of(rule, bound, words, index, columns)) if rule.is_released else ()
        names = tuple(column.name for column in rule.columns)
        if names[0] in _generalized_names(statement) and rule.is_released and not rule.treatments:
            steps = (_generalized_step(rule, bound, index),)
        rules.append(
            BoundRule(bound, names, rule.role, steps, rule.is_released, rule.span, is_private)
        )
    if agreement is not None:
        check_release(agreement, statement.rules, rules, words, options.get("site"))
    row_key = _row_key(tuple(rules), columns, catalog, source)
    if agreement is not None and row_key is not None:
        _check_agreed_key(row_key, rules)
    grouping = None
    if statement.generalize is not None:
        grouping = bind_clause(statement.generalize, tuple(rules), columns, options)
    listed = [name for rule in rules for name in rule.names]
    return Release(
        statement.name,
        source,
        tuple(rules),
        row_key,
        options["execution"],
        grouping,
        agreement.name if agreement is not None else None,
        accepted=accepted_in(statement.options, listed),
    )


def check_new_names(statement: CreateRelease | CreateAgreement) -> None:
    """Raise for names that our own SELECTs use; not asked of what an earlier program made."""
    if isinstance(statement, CreateRelease):
        for part in statement.name.parts:
            if part.is_reserved and part != OWNER_SCHEMA:
                raise Refused(
                    f"a release may not be called '{statement.name}'",
                    statement.name_span,
                    RESERVED_HINT,
                    code="reserved_name",
                )
    for rule in statement.rules:
        for column in rule.columns:
            if column.name.is_reserved:
                raise Refused(
                    f"a column of a release may not be called '{column.name}'",
                    column.span,
                    f"{RESERVED_HINT} in a (SELECT …) source",
                    code="reserved_name",
                )


def _generalized_names(statement: CreateRelease) -> frozenset[Name]:
    """Return the columns behind GENERALIZE."""
    if statement.generalize is None:
        return frozenset()
    return frozenset(column.column.name for column in statement.generalize.columns)


def _generalized_step(rule: ColumnRule, columns: Sequence[InputColumn], index: int) -> Step:
    """Return what stands for a treatment in the rule of a generalized column."""
    call = TreatmentCall(Generalized.keyword, span=rule.span)
    return Step(Generalized.from_call(call, columns), f"t{index}_0", rule.span)


def _separated(statement: CreateRelease) -> Iterator[ColumnRule]:
    """Return the rules with generalized columns each in one of its own."""
    generalized = _generalized_names(statement)
    for rule in statement.rules:
        if len(rule.columns) > 1 and any(column.name in generalized for column in rule.columns):
            yield from (replace(rule, columns=(column,)) for column in rule.columns)
        else:
            yield rule


def _agreement(statement: CreateRelease, catalog: SourceCatalog) -> CreateAgreement | None:
    """Return the agreement that a release is made under, if there is one."""
    for option in statement.options:
        if option.name == "agreement":
            found = catalog.agreement(Name(option.value)) if isinstance(option.value, str) else None
            if found is None:
                raise BindError(
                    f"there is no agreement '{option.value}'",
                    option.span,
                    suggest(str(option.value), catalog.agreement_names(), "agreements"),
                    code="unknown_agreement",
                )
            if statement.generalize is not None:
                raise BindError(
                    "GENERALIZE depends on the rows of one site, so it cannot be agreed",
                    statement.generalize.span,
                    "generalize after combining, or in a release without the agreement",
                    code="not_agreed",
                )
            return found
    return None


def _agreed_column(column: InputColumn, rule: ColumnRule, span: Span | None) -> InputColumn:
    """Return a column whose keys come from its name; a KEY is its canonical text."""
    type_ = column.type
    if rule.role is Role.KEY:
        if type_.kind not in KEY_KINDS:
            raise BindError(
                f"the KEY of an agreement must have the same text at every site; "
                f"'{column.name}' is of type {type_}",
                span,
                "cast it in a (SELECT …) source to BIGINT, VARCHAR, UUID or DATE",
                code="wrong_type",
            )
        type_ = VARCHAR
    return replace(column, type=type_, identity=agreed_identity(column.name))


def _entity(rule: ColumnRule, catalog: SourceCatalog) -> str:
    """Return whom or what a column names, where its line says so; empty: the column itself."""
    if rule.entity is not None:
        return f"{ENTITY}{rule.entity.folded}"
    if rule.references is None:
        return ""
    return column_identity(catalog, TableSource(rule.references.table), rule.references.column)


def _refuse_entity(rule: ColumnRule) -> None:
    if rule.entity is not None or rule.references is not None:
        raise BindError(
            "under an agreement the name of a column says whose it is, at every site",
            rule.span,
            "leave out OF and REFERENCES",
            code="not_agreed",
        )


def _check_agreed_key(row_key: InputColumn, rules: Sequence[BoundRule]) -> None:
    """Raise when rows would be told apart by a key that the sites do not share."""
    if not any(rule.role is Role.KEY for rule in rules):
        raise BindError(
            f"under an agreement the key of a row is its KEY, not the PRIMARY KEY '{row_key.name}'",
            hint="list the KEY column of the agreement",
            code="not_agreed",
        )


def _row_key(
    rules: tuple[BoundRule, ...],
    columns: dict[Name, SourceColumn],
    catalog: SourceCatalog,
    source: Source,
) -> InputColumn | None:
    """Return the key of a row where a treatment needs it: the KEY, or else the PRIMARY KEY."""
    users = [step for rule in rules for step in rule.steps if step.treatment.traits.uses_row_key]
    if not users:
        return None
    for rule in rules:
        if rule.role is Role.KEY:
            return _usable_key(rule.columns[0], users[0])
    name = catalog.primary_key(source)
    if name is None:
        raise BindError(
            f"{users[0].treatment.keyword} needs a row key",
            users[0].span,
            "list a KEY: without a treatment it stays with the owner",
            code="key",
        )
    return _usable_key(_followed(catalog, source, columns[name]), users[0])


def _followed(catalog: SourceCatalog, source: Source, column: SourceColumn) -> InputColumn:
    """Return a column of the source with all that is known of where it comes from."""
    return InputColumn(
        column.name,
        column.type,
        column_identity(catalog, source, column.name),
        column_origins(catalog, source, column.name),
        column_ancestors(catalog, source, column.name),
    )


def _usable_key(key: InputColumn, user: Step) -> InputColumn:
    if key.type.kind in (Kind.FLOAT, Kind.OTHER):
        raise BindError(
            f"{user.treatment.keyword} needs a KEY that is always written the same way; "
            f"'{key.name}' is of type {key.type}",
            user.span,
            "cast it in a (SELECT …) source to BIGINT, VARCHAR, UUID, DATE or TIMESTAMP",
            code="wrong_type",
        )
    return key


def _check_name(statement: CreateRelease) -> None:
    if statement.name.catalog is not None:
        raise BindError(
            "a release is stored in the owner's database",
            statement.name_span,
            f"write {QualifiedName(statement.name.parts[1:])}",
            code="wrong_database",
        )
    if statement.name.schema == OWNER_SCHEMA:
        raise Refused(
            f"'{OWNER_SCHEMA}' is the owner's store, not a place for releases",
            statement.name_span,
            "name another schema",
            code="owner_store",
        )


def _check_roles(statement: CreateRelease) -> None:
    keys = [rule for rule in statement.rules if rule.role is Role.KEY]
    if len(keys) > 1 or (keys and len(keys[0].columns) > 1):
        raise BindError(
            "a release has one KEY column",
            keys[-1].span,
            "make one column of several in a (SELECT …) source",
            code="key",
        )
    for rule in statement.rules:
        if rule.role is Role.IDENTIFIER and rule.treatments:
            raise BindError(
                "an IDENTIFIER is never released, so it takes no treatment",
                rule.treatments[0].span,
                "remove the treatment, or give the column another role",
                code="wrong_role",
            )


def _check_released(statement: CreateRelease) -> None:
    """Raise where nothing is released; a misspelt name is told before, as what was meant would."""
    if not any(rule.is_released for rule in statement.rules):
        raise BindError(
            "the release contains no columns",
            statement.name_span,
            "IDENTIFIER and a KEY without a treatment stay with the owner",
            code="nothing_released",
        )


def _may_lack_a_header(catalog: SourceCatalog, source: Source) -> bool:
    """Whether the names of columns may be the first row of a file: then they are not told."""
    if isinstance(source, FileSource):
        return not source.path.lower().endswith(".parquet")
    return _READS_FILES.search(written_source(catalog, source)) is not None


def _check_columns(
    statement: CreateRelease,
    columns: dict[Name, SourceColumn],
    catalog: SourceCatalog,
    source: Source,
) -> None:
    seen: set[Name] = set()
    for rule in statement.rules:
        for column in rule.columns:
            if column.name not in columns:
                raise BindError(
                    f"there is no column '{column.name}' in {_called(statement.source)}",
                    column.span,
                    _HEADER
                    if _may_lack_a_header(catalog, source)
                    else suggest(column.name.text, (str(name) for name in columns), "columns"),
                    code="unknown_column",
                )
            if column.name in seen:
                raise BindError(
                    f"column '{column.name}' is listed twice",
                    column.span,
                    "a column has one role and one line",
                    code="listed_twice",
                )
            seen.add(column.name)


def _called(source: Source) -> str:
    match source:
        case TableSource(name):
            return f"'{name}'"
        case FileSource():
            return "the file"
        case _:
            return "the SELECT"
