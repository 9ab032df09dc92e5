"""Statements back to text: canonical, and parsed again it gives the same statement.

This is the text of a definition as the owner's store keeps it. It holds the arguments as the
owner wrote them, so it never leaves the store.
"""

from __future__ import annotations

from ppdm_sql.model.syntax import (
    Argument,
    ColumnRule,
    CreateAgreement,
    CreateRelease,
    DescribeAgreement,
    DescribeRelease,
    DropAgreement,
    DropRelease,
    ExplainRelease,
    ExportAgreement,
    FileSource,
    ImportAgreement,
    InterpretPredicate,
    InterpretTable,
    Option,
    PlainSql,
    PublishRelease,
    QuerySource,
    RefreshRelease,
    ShowAgreements,
    ShowReleases,
    Source,
    Statement,
    TransformCall,
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
        case RefreshRelease(name):
            return f"REFRESH RELEASE {_qualified(name)}"
        case ShowReleases():
            return "SHOW RELEASES"
        case DescribeRelease(name):
            return f"DESCRIBE RELEASE {_qualified(name)}"
        case ExplainRelease(name, target):
            return f"EXPLAIN RELEASE {_qualified(name)} FOR {Name(target)}"
        case InterpretPredicate(name, predicate, passes_others):
            others = " PASSING OTHERS" if passes_others else ""
            return f"INTERPRET RELEASE {_qualified(name)}{others} WHERE {predicate}"
        case InterpretTable(name, table):
            return f"INTERPRET RELEASE {_qualified(name)} TABLE {_qualified(table)}"
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
        case PlainSql(text):
            return text


def _create(statement: CreateRelease) -> str:
    rules = ",\n".join(f"    {_rule(rule)}" for rule in statement.rules)
    text = (
        f"CREATE {'OR REPLACE ' if statement.replace else ''}RELEASE {_qualified(statement.name)}\n"
        f"FROM {_source(statement.source)} (\n{rules}\n)"
    )
    return text + (f"\n{_with(statement.options)}" if statement.options else "")


def _publish(statement: PublishRelease) -> str:
    names = ", ".join(_qualified(release.name) for release in statement.releases)
    text = f"PUBLISH RELEASE {names} TO {_string(statement.path)}"
    text += f" (FORMAT {quote(statement.format)})"
    return text + (f" {_with(statement.options)}" if statement.options else "")


def _with(options: tuple[Option, ...]) -> str:
    listed = ", ".join(f"{quote(option.name)} = {_value(option.value)}" for option in options)
    return f"WITH ({listed})"


def treatment_text(rule: ColumnRule) -> str:
    """Return the treatments of a rule as a script writes them, arguments included."""
    return " THEN ".join(_call(call) for call in rule.treatments)


def _rule(rule: ColumnRule) -> str:
    names = ", ".join(_name(column.name) for column in rule.columns)
    columns = f"({names})" if len(rule.columns) > 1 else names
    treatments = treatment_text(rule)
    return f"{columns} {rule.role}" + (f" AS {treatments}" if treatments else "")


def _source(source: Source) -> str:
    match source:
        case FileSource(path):
            return _string(path)
        case QuerySource(text):
            return f"({text})"
        case _:
            return _qualified(source.name)


def _call(call: TransformCall) -> str:
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
        case TransformCall():
            return _call(value)


def _string(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _qualified(name: QualifiedName) -> str:
    return ".".join(_name(part) for part in name.parts)


def _name(name: Name) -> str:
    # Always quoted: an unquoted word could meet the grammar of a later version.
    return quote(name.text)
