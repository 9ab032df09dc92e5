"""Statements back to text: canonical, and parsed again it gives the same statement.

This is the text of a definition as the owner's store keeps it. It holds the arguments as the
owner wrote them, so it never leaves the store.
"""

from __future__ import annotations

from ppdm_sql.language.syntax import (
    Argument,
    AuditRelease,
    ColumnName,
    ColumnRule,
    CreateAgreement,
    CreateHierarchy,
    CreateRelease,
    DateBody,
    DescribeAgreement,
    DescribeHierarchy,
    DescribeRelease,
    DigitsBody,
    DropAgreement,
    DropHierarchy,
    DropRelease,
    ExplainHierarchies,
    ExplainRelease,
    ExportAgreement,
    FileBody,
    FileSource,
    GeneralizeClause,
    HierarchyBody,
    ImportAgreement,
    InterpretPredicate,
    InterpretTable,
    Option,
    PlainSql,
    PublishRelease,
    QuerySource,
    RangesBody,
    RefreshRelease,
    ShowAgreements,
    ShowHierarchies,
    ShowPublications,
    ShowReleases,
    ShowTreatments,
    Source,
    Statement,
    TableBody,
    TargetClause,
    TreatmentCall,
    TreeBody,
    Value,
)
from ppdm_sql.names import Name, QualifiedName, quote


def unparse(statement: Statement) -> str:
    """Return the canonical text of a statement."""
    match statement:
        case CreateRelease():
            return _create(statement)
        case DropRelease(name, if_exists):
            return f"DROP RELEASE {'IF EXISTS ' if if_exists else ''}{_qualified(name)}"
        case RefreshRelease():
            return f"REFRESH RELEASE {', '.join(_qualified(one.name) for one in statement.each)}"
        case ShowTreatments():
            return "SHOW TREATMENTS"
        case DescribeHierarchy(name):
            return f"DESCRIBE HIERARCHY {_name(name)}"
        case ShowReleases():
            return "SHOW RELEASES"
        case DescribeRelease(name):
            return f"DESCRIBE RELEASE {_qualified(name)}"
        case ExplainRelease(name, target):
            return f"EXPLAIN RELEASE {_qualified(name)} FOR {Name(target)}"
        case CreateHierarchy(name, body, replace):
            start = f"CREATE {'OR REPLACE ' if replace else ''}HIERARCHY {_name(name)} AS"
            return f"{start} {_hierarchy_body(body)}"
        case DropHierarchy(name, if_exists):
            return f"DROP HIERARCHY {'IF EXISTS ' if if_exists else ''}{_name(name)}"
        case ShowHierarchies():
            return "SHOW HIERARCHIES"
        case ExplainHierarchies(name):
            return f"EXPLAIN HIERARCHIES FOR RELEASE {_qualified(name)}"
        case InterpretPredicate(name, predicate, passes_others, version):
            others = " PASSING OTHERS" if passes_others else ""
            return f"{_interpret(name, version)}{others} WHERE {predicate}"
        case InterpretTable(name, table, version):
            return f"{_interpret(name, version)} TABLE {_qualified(table)}"
        case PublishRelease():
            return _publish(statement)
        case CreateAgreement(name, rules):
            listed = ",\n".join(f"    {_rule(rule)}" for rule in rules)
            return f"CREATE AGREEMENT {_name(name)} (\n{listed}\n)"
        case DropAgreement(name, if_exists):
            return f"DROP AGREEMENT {'IF EXISTS ' if if_exists else ''}{_name(name)}"
        case ExportAgreement(name, path):
            return f"EXPORT AGREEMENT {_name(name)} TO {_string(path)}"
        case ImportAgreement(path):
            return f"IMPORT AGREEMENT FROM {_string(path)}"
        case DescribeAgreement(name):
            return f"DESCRIBE AGREEMENT {_name(name)}"
        case ShowAgreements():
            return "SHOW AGREEMENTS"
        case ShowPublications():
            return "SHOW PUBLICATIONS"
        case AuditRelease():
            return _audit(statement)
        case PlainSql(text):
            return text


def _create(statement: CreateRelease) -> str:
    rules = ",\n".join(f"    {_rule(rule)}" for rule in statement.rules)
    text = (
        f"CREATE {'OR REPLACE ' if statement.replace else ''}RELEASE {_qualified(statement.name)}\n"
        f"FROM {_source(statement.source)} (\n{rules}\n)"
    )
    if statement.generalize is not None:
        text += f"\n{_generalize(statement.generalize)}"
    return text + (f"\n{_with(statement.options)}" if statement.options else "")


def _interpret(name: QualifiedName, version: int | None) -> str:
    return f"INTERPRET RELEASE {_qualified(name)}" + (
        "" if version is None else f" VERSION {version}"
    )


def _publish(statement: PublishRelease) -> str:
    names = ", ".join(_qualified(release.name) for release in statement.releases)
    text = f"PUBLISH RELEASE {names} TO {_string(statement.path)}"
    text += f" (FORMAT {quote(statement.format)})" if statement.format else ""
    return text + (f" {_with(statement.options)}" if statement.options else "")


def _with(options: tuple[Option, ...]) -> str:
    listed = ", ".join(f"{quote(option.name)} = {_value(option.value)}" for option in options)
    return f"WITH ({listed})"


def treatment_text(rule: ColumnRule) -> str:
    """Return the treatments of a rule as a script writes them, arguments included."""
    return " THEN ".join(_call(call) for call in rule.treatments)


def _audit(statement: AuditRelease) -> str:
    names = (statement.name, *(one.name for one in statement.also))
    text = f"AUDIT RELEASE {', '.join(map(_qualified, names))}"
    if statement.together_with:
        text += f" TOGETHER WITH {', '.join(map(_qualified, statement.together_with))}"
    if statement.against is not None:
        text += f" AGAINST {_qualified(statement.against)}"
    if statement.into is not None:
        text += f" INTO {_name(statement.into)}"
    return text if statement.path is None else f"{text} TO {_string(statement.path)}"


def _rule(rule: ColumnRule) -> str:
    names = ", ".join(_name(column.name) for column in rule.columns)
    columns = f"({names})" if len(rule.columns) > 1 else names
    text = f"{columns} {rule.role}"
    if rule.entity is not None:
        text += f" OF {_name(rule.entity)}"
    if rule.references is not None:
        reference = rule.references
        text += f" REFERENCES {_qualified(reference.table)} ({_name(reference.column)})"
    if rule.private_to is not None:
        text += f" PRIVATE TO {_name(rule.private_to)}"
    treatments = treatment_text(rule)
    return text + (f" AS {treatments}" if treatments else "")


def _generalize(clause: GeneralizeClause) -> str:
    columns = ", ".join(
        _name(column.column.name) + _using(column.hierarchy) for column in clause.columns
    )
    # A line of its own: the condition may end in a comment.
    when = f"\n    WHEN {clause.when.text}\n" if clause.when else "\n"
    targets = ", ".join(_target(target) for target in clause.targets)
    return f"GENERALIZE {columns}{when}    UNTIL {targets}\n    SUPPRESS AT MOST {clause.percent!r} PERCENT"


def _target(target: TargetClause) -> str:
    if target.column is None:
        return f"{target.word} {target.comparison} {target.value!r}"
    argument = "" if target.number is None else f", {target.number!r}"
    inside = f"{_name(target.column.name)}{_using(target.hierarchy)}{argument}"
    return f"{target.word}({inside}) {target.comparison} {target.value!r}"


def _using(hierarchy: ColumnName | None) -> str:
    return "" if hierarchy is None else f" USING {_name(hierarchy.name)}"


def _hierarchy_body(body: HierarchyBody) -> str:
    match body:
        case DigitsBody():
            return "SUPPRESS DIGITS RIGHT"
        case RangesBody(widths, origin):
            return f"RANGES ({', '.join(map(repr, widths))}) FROM {origin!r}"
        case TreeBody(rows):
            listed = ", ".join(f"({', '.join(map(_string, row))})" for row in rows)
            return f"TREE ({listed})"
        case DateBody(units):
            return f"DATE ({', '.join(units)})"
        case TableBody(name):
            return f"TABLE {_qualified(name)}"
        case FileBody(path):
            return f"FROM {_string(path)}"


def _source(source: Source) -> str:
    match source:
        case FileSource(path):
            return _string(path)
        case QuerySource(text):
            return f"({text})"
        case _:
            return _qualified(source.name)


def _call(call: TreatmentCall) -> str:
    return f"{call.keyword}({', '.join(_argument(argument) for argument in call.arguments)})"


def _argument(argument: Argument) -> str:
    value = _value(argument.value)
    return value if argument.name is None else f"{quote(argument.name)} => {value}"


def _value(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _string(value)
        case tuple():
            return f"[{', '.join(_value(item) for item in value)}]"
        case TreatmentCall():
            return _call(value)


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _qualified(name: QualifiedName) -> str:
    return ".".join(_name(part) for part in name.parts)


def _name(name: Name) -> str:
    # Always quoted: an unquoted word could meet the grammar of a later version.
    return quote(name.text)
