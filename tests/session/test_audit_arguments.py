"""What `Owner.audit` takes, and what it says of anything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import ppdm_sql

if TYPE_CHECKING:
    from ppdm_sql.owner import Owner


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"require": {"k": 5}}, "require= takes a text such as 'k>=5.*, not dict"),
        ({"require": ["k>=5", 5]}, "require= takes .* not int"),
        ({"against": pa.table({"zip": ["secret"]})}, "against= takes the name of .* not Table"),
        ({"into": 5}, "into= takes the name of a schema, not int"),
        ({"release": 5}, r"audit\(\) takes the name of a release, not int"),
    ],
)
def test_arguments_of_other_types_are_told(
    owner: Owner, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(TypeError, match=told) as caught:
        owner.audit(**{"release": "r", **arguments})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"into": ""}, "expected the name of a schema, found an empty text"),
        ({"against": " "}, "expected the name of a table, found an empty text"),
        ({"against": "'register.csv'"}, "expected the name of a table, found a string"),
        ({"release": ""}, "expected the name of a release, found an empty text"),
    ],
)
def test_arguments_that_are_no_names_are_told(
    owner: Owner, arguments: dict[str, Any], told: str
) -> None:
    with pytest.raises(ppdm_sql.StatementError, match=told):
        owner.audit(**{"release": "r", **arguments})


def test_requirements_can_be_a_list_and_a_background_a_frame_with_a_name(owner: Owner) -> None:
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 3 AS ward, i % 2 AS ill FROM range(9) AS n (i);"
        "CREATE RELEASE r FROM t (id KEY, ward QUASI, ill SENSITIVE)"
    )
    rows = pa.table({"ward": [1]})
    owner.connection.register("register", rows)
    report = owner.audit("r", against="register", require=["k>=5", "linking<=1, l>=1"])
    assert [outcome.requirement for outcome in report.outcomes] == ["k>=5", "linking<=1", "l>=1"]
