"""keep(): the same values, the same types; an ENUM leaves as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from sqlglot import exp

import ppdm_sql
from ppdm_sql.engine.sql import to_sql
from ppdm_sql.errors import Refused, TreatmentError
from ppdm_sql.language.syntax import TreatmentCall
from ppdm_sql.names import Name
from ppdm_sql.parameters import Drawn
from ppdm_sql.treatments.keep import Keep
from ppdm_sql.treatments.protocol import InputColumn
from ppdm_sql.types import ColumnType

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ppdm_sql.owner import Owner

# A type and a value of it, as SQL.
VALUES = {
    "BOOLEAN": "true",
    "TINYINT": "-128",
    "UTINYINT": "255",
    "SMALLINT": "-32768",
    "INTEGER": "2147483647",
    "BIGINT": "-9223372036854775808",
    "UBIGINT": "18446744073709551615",
    "HUGEINT": "170141183460469231731687303715884105727",
    "UHUGEINT": "340282366920938463463374607431768211455",
    "DECIMAL(38,10)": "1234567890123456789012345678.0123456789",
    "FLOAT": "'inf'",
    "DOUBLE": "'-1.7976931348623157e308'",
    "VARCHAR": "'it''s \"ünïcödé\" 🦆'",
    "BLOB": "'\\xAA\\x00'",
    "BIT": "'10101'",
    "DATE": "'0001-01-01 (BC)'",
    "TIME": "'23:59:59.999999'",
    "TIMESTAMP": "'2026-02-28 23:59:59.999999'",
    "TIMESTAMP_NS": "'2026-02-28 23:59:59.999999999'",
    "TIMESTAMP WITH TIME ZONE": "'2026-02-28 23:59:59+01'",
    "INTERVAL": "'3 months 2 days'",
    "UUID": "'550e8400-e29b-41d4-a716-446655440000'",
    "INTEGER[]": "[1, NULL, 3]",
    "INTEGER[2]": "[1, 2]",
    "STRUCT(a INTEGER, b VARCHAR)": "{'a': 1, 'b': 'x'}",
    "MAP(VARCHAR, INTEGER)": "MAP {'k': 1}",
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    with ppdm_sql.connect(":memory:") as owner:
        yield owner


def make(owner: Owner, type_: str, value: str, treatment: str = "AS keep()") -> None:
    owner.execute(f"CREATE OR REPLACE TABLE t (x {type_}); INSERT INTO t VALUES ({value}), (NULL)")
    owner.execute(f"CREATE OR REPLACE RELEASE r.t FROM t (x NEUTRAL {treatment})")


@pytest.mark.parametrize("type_", VALUES)
def test_every_type_leaves_as_it_is(shared: Owner, type_: str) -> None:
    make(shared, type_, VALUES[type_])
    assert shared.sql("SELECT typeof(x) FROM r.t").fetchall() == [(type_,), (type_,)]
    (different,) = shared.sql(
        "SELECT count(*) FROM (SELECT x FROM t) AS a POSITIONAL JOIN (SELECT x FROM r.t) AS b"
        " WHERE a.x IS DISTINCT FROM b.x"
    ).fetchall()
    assert different == (0,)
    assert [column.type for column in shared.describe("r.t")] == [type_]


def test_nan_stays_nan(shared: Owner) -> None:
    make(shared, "DOUBLE", "'NaN'")
    assert shared.sql("SELECT isnan(x) FROM r.t").fetchall() == [(True,), (None,)]


@pytest.mark.parametrize("treatment", ["", "AS keep()"], ids=["no treatment", "keep()"])
def test_a_column_without_treatment_is_kept(shared: Owner, treatment: str) -> None:
    make(shared, "INTEGER", "7", treatment)
    assert shared.sql("FROM r.t").fetchall() == [(7,), (None,)]
    (column,) = shared.describe("r.t")
    assert (column.treatment, column.inverse) == ("keep", "exact")


@pytest.mark.parametrize("treatment", ["", "AS keep()"], ids=["no treatment", "keep()"])
def test_an_enum_leaves_as_text_without_its_other_values(shared: Owner, treatment: str) -> None:
    make(shared, "ENUM('Flu', 'never_seen')", "'Flu'", treatment)
    assert shared.sql("SELECT x, typeof(x) FROM r.t").fetchall() == [
        ("Flu", "VARCHAR"),
        (None, "VARCHAR"),
    ]
    assert [column.type for column in shared.describe("r.t")] == ["VARCHAR"]
    assert "never_seen" not in shared.explain("r.t")
    (view,) = shared.sql("SELECT sql FROM duckdb_views() WHERE schema_name = 'r'").fetchall()
    assert "never_seen" not in view[0]


@pytest.mark.parametrize("treatment", ["", "AS keep()"], ids=["no treatment", "keep()"])
@pytest.mark.parametrize(
    "type_",
    [
        "ENUM('never_seen')[]",
        "ENUM('never_seen')[2]",
        "STRUCT(a ENUM('never_seen'))",
        "MAP(VARCHAR, ENUM('never_seen'))",
        "UNION(a ENUM('never_seen'), b INTEGER)",
        "STRUCT(a STRUCT(b ENUM('never_seen')[]))",
    ],
)
def test_an_enum_inside_another_type_is_refused(shared: Owner, type_: str, treatment: str) -> None:
    with pytest.raises(Refused) as caught:
        make(shared, type_, "NULL", treatment)
    assert "the type of 'x' lists values of an ENUM" in caught.value.what
    assert "suppress()" in (caught.value.hint or "")
    assert caught.value.span is not None
    assert "never_seen" not in str(caught.value)


def test_a_group_of_columns_is_kept(people: Owner) -> None:
    people.execute("CREATE RELEASE r.p FROM clinic.people ((age, illness) QUASI AS keep())")
    assert people.sql("FROM r.p").fetchall() == (
        people.sql("SELECT age, illness FROM clinic.people").fetchall()
    )


def test_takes_no_arguments(shared: Owner) -> None:
    with pytest.raises(TreatmentError) as caught:
        make(shared, "INTEGER", "7", "AS keep(1)")
    assert caught.value.what == "keep takes no arguments"
    assert caught.value.span is not None
    assert caught.value.span.source == "1"


def test_named_arguments_are_unknown(shared: Owner) -> None:
    with pytest.raises(TreatmentError) as caught:
        make(shared, "INTEGER", "7", "AS keep(all => true)")
    assert caught.value.what == "unknown argument 'all' of keep"
    assert caught.value.hint == "it takes no arguments"


def keep(type_: str) -> Keep:
    return Keep.from_call(
        TreatmentCall("keep"), (InputColumn(Name("x"), ColumnType(type_), "column:x"),)
    )


def test_inverse_is_the_value_itself() -> None:
    values = pa.array([1, None, 3])
    assert keep("INTEGER").invert([values], Drawn()) == (values,)


@pytest.mark.parametrize(
    ("type_", "literal", "values"),
    [
        pytest.param("INTEGER", 2, "(1), (2), (3), (NULL)", id="integer"),
        pytest.param("DOUBLE", 0.1 + 0.2, "(0.3), (0.1::DOUBLE + 0.2), (0.4)", id="sum"),
        pytest.param("DOUBLE", 5e-324, "(0), ('5e-324'::DOUBLE), (1)", id="subnormal"),
        pytest.param("DOUBLE", math.inf, "(0), ('inf'), ('nan'), (NULL)", id="infinity"),
        pytest.param("DOUBLE", -math.inf, "(0), ('-inf'), ('nan'), (NULL)", id="minus infinity"),
        pytest.param("VARCHAR", "it's", "('it''s'), ('a'), ('z'), (NULL)", id="text"),
        pytest.param("DECIMAL(10,2)", 12.5, "(12.5), (12.49), (12.51), (NULL)", id="decimal"),
        pytest.param("HUGEINT", 2**80, f"({2**80}), ({2**80 + 1}), (1)", id="hugeint"),
    ],
)
def test_conditions_select_the_same_rows(
    shared: Owner, type_: str, literal: float | str, values: str
) -> None:
    shared.execute(f"CREATE OR REPLACE TABLE t (x {type_}); INSERT INTO t VALUES {values}")
    for operator in ("=", "<>", "<", "<=", ">", ">="):
        condition = keep(type_).invert_condition(operator, literal, (exp.column("x"),), Drawn())
        assert condition is not None
        found = shared.sql(f"SELECT x::VARCHAR FROM t WHERE {to_sql(condition)}").fetchall()
        wanted = shared.connection.execute(
            f"SELECT x::VARCHAR FROM t WHERE x {operator} ?", [literal]
        ).fetchall()
        assert found == wanted, operator


def test_no_condition_for_an_operator_that_is_none() -> None:
    assert keep("VARCHAR").invert_condition("LIKE", "a%", (exp.column("x"),), Drawn()) is None


def test_before_and_after_another_treatment(people: Owner) -> None:
    people.execute(
        "CREATE RELEASE r.p FROM clinic.people (illness SENSITIVE"
        " AS keep() THEN mapping(prefix => 'I') THEN keep())"
    )
    aliases = {alias for (alias,) in people.sql("SELECT illness FROM r.p").fetchall()}
    assert aliases == {"I_1", "I_2", "I_3", None}
