"""Statements back to text: canonical, and parsed again it gives the same statement.

This is the text of a definition as the owner's store keeps it. It holds the arguments as the
owner wrote them, so it never leaves the store.
"""

from __future__ import annotations

from ppdm_sql.language.syntax import (
    Argument,
    AuditRelease,
    AuditStudy,
    ColumnName,
    ColumnRule,
    CreateAgreement,
    CreateHierarchy,
    CreateRelease,
    CreateStudy,
    DateBody,
    DescribeAgreement,
    DescribeHierarchy,
    DescribeRelease,
    DescribeStudy,
    DigitsBody,
    DropAgreement,
    DropHierarchy,
    DropRelease,
    DropStudy,
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
    PublishStudy,
    QuerySource,
    RangesBody,
    RefreshRelease,
    RefreshStudy,
    ShowAgreements,
    ShowHierarchies,
    ShowPublications,
    ShowReleases,
    ShowStudies,
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
        case InterpretPredicate(name, predicate, passes_others):
            others = " PASSING OTHERS" if passes_others else ""
            return f"{_interpret(statement)}{others} WHERE {predicate}"
        case InterpretTable(name, table):
            return f"{_interpret(statement)} TABLE {_qualified(table)}"
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
        case CreateStudy():
            return _study(statement)
        case DropStudy(name, if_exists):
            return f"DROP STUDY {'IF EXISTS ' if if_exists else ''}{_name(name)}"
        case RefreshStudy(name):
            return f"REFRESH STUDY {_name(name)}"
        case DescribeStudy(name):
            return f"DESCRIBE STUDY {_name(name)}"
        case ShowStudies():
            return "SHOW STUDIES"
        case PublishStudy(name, path, format_, options):
            return f"PUBLISH STUDY {_name(name)} {_to(path, format_, options)}"
        case AuditStudy(name, path):
            return f"AUDIT STUDY {_name(name)}" + ("" if path is None else f" TO {_string(path)}")
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


def _interpret(statement: InterpretPredicate | InterpretTable) -> str:
    text = f"INTERPRET RELEASE {_qualified(statement.name)}"
    if statement.publication is not None:
        return f"{text} PUBLICATION {_string(statement.publication)}"
    return text if statement.version is None else f"{text} VERSION {statement.version}"


def _publish(statement: PublishRelease) -> str:
    names = ", ".join(_qualified(release.name) for release in statement.releases)
    return f"PUBLISH RELEASE {names} {_to(statement.path, statement.format, statement.options)}"


def _to(path: str, format_: str | None, options: tuple[Option, ...]) -> str:
    text = f"TO {_string(path)}" + (f" (FORMAT {quote(format_)})" if format_ else "")
    return text + (f" {_with(options)}" if options else "")


def _study(statement: CreateStudy) -> str:
    person = _name(statement.person)
    members = ", ".join(
        _qualified(one.name)
        + ("" if one.most_rows is None else f" AT MOST {one.most_rows} ROWS PER {person}")
        for one in statement.members
    )
    text = f"CREATE {'OR REPLACE ' if statement.replace else ''}STUDY {_name(statement.name)}"
    text += f" OF {members} PERSON {person}"
    if statement.across is not None:
        across = statement.across
        text += f" UNTIL {', '.join(map(_target, across.targets))}"
        if across.releases:
            text += f" ACROSS {', '.join(_qualified(one.name) for one in across.releases)}"
        text += f" SUPPRESS AT MOST {across.percent!r} PERCENT"
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
        _name(column.column.name)
        + _using(column.hierarchy)
        + _between(column.levels)
        + (f" WEIGHT {column.weight!r}" if column.weight != 1 else "")
        for column in clause.columns
    )
    if not clause.targets:
        return f"GENERALIZE {columns}"
    # A line of its own: the condition may end in a comment.
    when = f"\n    WHEN {clause.when.text}\n" if clause.when else "\n"
    targets = ", ".join(_target(target) for target in clause.targets)
    cells = " CELLS" if clause.suppresses_cells else ""
    return f"GENERALIZE {columns}{when}    UNTIL {targets}\n    SUPPRESS{cells} AT MOST {clause.percent!r} PERCENT"


def _between(levels: tuple[int, int] | None) -> str:
    return "" if levels is None else f" LEVEL {levels[0]} TO {levels[1]}"


def _target(target: TargetClause) -> str:
    if target.column is None:
        against = "" if target.against is None else f" AGAINST {_qualified(target.against)}"
        return f"{target.word} {target.comparison} {target.value!r}{against}"
    inside = f"{_name(target.column.name)}{_using(target.hierarchy)}"
    inside += "".join(f", {number!r}" for number in target.numbers)
    if target.values:
        inside += f" IN ({', '.join(map(_value, target.values))})"
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
