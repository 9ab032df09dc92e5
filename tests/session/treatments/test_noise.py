"""noise() through releases: whose noise, how much, on which rows, and what it refuses.

The store's root key is fixed here, so that every test is deterministic. Limits of statistical
tests are five standard deviations: with another root key, one of them fails by chance once in
1.7 million runs. `tests/unit/kernels/test_keyed.py` has the sharp ones.
"""

from __future__ import annotations

import hashlib
import math
import struct
import uuid
from dataclasses import replace
from datetime import date, datetime, timedelta
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import ppdm_sql
from ppdm_sql.errors import BindError, PrivacyWarning, Refused, TreatmentError
from ppdm_sql.release.model import FORMULA
from ppdm_sql.store.keys import RootKey
from ppdm_sql.treatments.noise import Noise
from ppdm_sql.treatments.protocol import Exactness
from tests.releases import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from ppdm_sql.owner import Owner

COUNT = 20_000
SIGMAS = 5.0
LOST = "cannot be computed (NaN, infinite or out of range)"


@pytest.fixture(scope="module")
def shared() -> Iterator[Owner]:
    """One owner with many zeros and ones, for tests that make their own release `r.t`."""
    with ppdm_sql.connect(":memory:") as owner:
        owner._session.releases = replace(owner._releases, keys=RootKey(bytes(range(32))))
        owner.execute(
            "CREATE TABLE many AS SELECT i AS id, 0.0::DOUBLE AS zero, 0::INTEGER AS nought,"
            f" 100.0::DOUBLE AS hundred, i::DOUBLE AS counted FROM range({COUNT}) AS r (i)"
        )
        yield owner


def fill(owner: Owner, keys: Sequence[object], values: Sequence[object], *types: str) -> None:
    """Make `t` with the columns id and x."""
    owner.execute(f"CREATE OR REPLACE TABLE t (id {types[0]}, x {types[1]})")
    for key, value in zip(keys, values, strict=True):
        owner.connection.execute(
            f"INSERT INTO t VALUES (?::{types[0]}, ?::{types[1]})", [key, value]
        )


def release(
    owner: Owner,
    noise: str,
    source: str = "t",
    columns: str = "x",
    key: str = "id KEY AS keep()",
    name: str = "r.t",
) -> None:
    # Decimals stay: what is drawn is what these tests are about.
    shown = f"{noise.removesuffix(')')}, round => false)"
    owner.execute(
        f"CREATE OR REPLACE RELEASE {name} FROM {source} ({key}, {columns} SENSITIVE AS {shown})"
    )


def released(owner: Owner, column: str = "x", name: str = "r.t") -> list[Any]:
    return [y for (y,) in owner.sql(f"SELECT {column} FROM {name} ORDER BY id").fetchall()]


def noise_of(
    owner: Owner, noise: str, column: str = "zero", name: str = "r.many"
) -> npt.NDArray[np.float64]:
    """Release one column of the many rows; return it in order of the key."""
    release(owner, noise, "many", column, name=name)
    return np.array(released(owner, column, name))


def by_hand(owner: Owner, row: int, value: float, name: str = "r.t") -> float:
    """Return the row's number in (0, 1) for the first noised column, from the definition."""
    releases = owner._releases
    bound = version_of(owner, name).release
    noise = bound.rules[1].steps[-1].treatment
    assert isinstance(noise, Noise)
    key = releases.keys.derive(
        "noise 2", noise._drawn_for(0, replace(releases.keys, formula=FORMULA))
    )[:16]
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    block = encryptor.update(row.to_bytes(8, "big", signed=True) + struct.pack(">d", value))
    return ((int.from_bytes(block[:8], "big") >> 12) + 0.5) / 2.0**52


def distance(values: npt.NDArray[np.float64]) -> float:
    """Return Kolmogorov and Smirnov's √n · D of probabilities against the uniform ones."""
    ordered, count = np.sort(values), len(values)
    above = (np.arange(1, count + 1) / count - ordered).max()
    below = (ordered - np.arange(count) / count).max()
    return math.sqrt(count) * float(max(above, below))


def correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    return math.sqrt(len(a)) * float(np.corrcoef(a, b)[0, 1])


@pytest.mark.parametrize(
    "noise", ["normal(2, 3)", "uniform(-12, 18)", "laplace(1, 2)"], ids=lambda noise: noise[:6]
)
def test_the_noise_of_a_row_is_what_the_definition_gives(shared: Owner, noise: str) -> None:
    keys = [0, 1, -1, 2**63 - 1, -(2**63), 42]
    fill(shared, keys, [10.5] * 6, "BIGINT", "DOUBLE")
    release(shared, f"noise({noise})")
    found = dict(shared.sql("SELECT id, x - 10.5 FROM r.t").fetchall())
    for key in keys:
        u = by_hand(shared, key, 10.5)
        match noise[:6]:
            case "normal":
                e = 2 + 3 * NormalDist().inv_cdf(u)
            case "unifor":
                e = -12 + 30 * u
            case _:
                e = 1 + 2 * (math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u)))
        assert found[key] == pytest.approx(e, rel=1e-11, abs=1e-12)


ID = uuid.UUID("6f1c2b7e-0a52-4c57-9d0e-5f3f2f1f0a11")


@pytest.mark.parametrize(
    ("type_", "keys"),
    [
        ("INTEGER", [-5, 7]),
        ("USMALLINT", [5, 7]),
        ("VARCHAR", ["P-1", "é", ""]),
        ("UUID", [ID]),
        ("HUGEINT", [2**100, -7]),
        ("UBIGINT", [2**64 - 1]),
        ("DATE", [date(2020, 2, 29)]),
    ],
)
def test_keys_of_every_type(shared: Owner, type_: str, keys: list[object]) -> None:
    fill(shared, keys, [0.0] * len(keys), type_, "DOUBLE")
    release(shared, "noise(uniform(0, 1))")
    found = dict(shared.sql("SELECT id, x FROM r.t").fetchall())
    for key in keys:
        if type_ in ("INTEGER", "USMALLINT"):
            assert isinstance(key, int)
            row = key
        else:
            digest = hashlib.sha256(str(key).encode()).digest()
            row = int.from_bytes(digest[:8], "big", signed=True)
        assert found[key] == pytest.approx(by_hand(shared, row, 0.0), rel=1e-15)


def test_normal_noise(shared: Owner) -> None:
    z = noise_of(shared, "noise(normal(5, 10))")
    z = (z - 5) / 10
    assert distance(np.array([NormalDist().cdf(value) for value in z])) < 2.7
    assert abs(z.mean()) < SIGMAS / math.sqrt(COUNT)
    assert abs(z.var() - 1) < SIGMAS * math.sqrt(2 / COUNT)
    assert abs(correlation(z, np.arange(COUNT, dtype=float))) < SIGMAS


def test_uniform_noise(shared: Owner) -> None:
    e = noise_of(shared, "noise(uniform(-12, 18))")
    assert -12 < e.min() < e.max() < 18
    assert distance((e + 12) / 30) < 2.7
    assert abs(correlation(e, np.arange(COUNT, dtype=float))) < SIGMAS


def test_laplace_noise(shared: Owner) -> None:
    e = noise_of(shared, "noise(laplace(mean => -2, scale => 3))")
    e = (e + 2) / 3
    assert distance(np.where(e < 0, np.exp(e) / 2, 1 - np.exp(-e) / 2)) < 2.7
    assert abs(e.var() - 2) < SIGMAS * math.sqrt(20 / COUNT)


def test_two_columns_have_unrelated_noise(shared: Owner) -> None:
    release(shared, "noise(normal(0, 1), normal(0, 1))", "many", "(zero, hundred)", name="r.many")
    a, b = (np.array(released(shared, column, "r.many")) for column in ("zero", "hundred"))
    assert abs(correlation(a, b)) < SIGMAS
    assert abs(correlation(a**2, b**2)) < SIGMAS


def test_each_column_of_a_group_has_its_own_distribution(shared: Owner) -> None:
    release(
        shared, "noise(uniform(5, 6), uniform(-2, -1))", "many", "(zero, hundred)", name="r.many"
    )
    rows = shared.sql("SELECT min(zero), max(zero), min(hundred), max(hundred) FROM r.many")
    ((a, b, c, d),) = rows.fetchall()
    assert 5 < a < 5.001 < 5.999 < b < 6
    assert 98 < c < 98.001 < 98.999 < d < 99


def test_multiplicative_noise(shared: Owner) -> None:
    factors = noise_of(shared, "noise(normal(1, 0.1), multiplicative => true)", "hundred") / 100
    assert abs(factors.mean() - 1) < SIGMAS * 0.1 / math.sqrt(COUNT)
    assert abs(factors.std() - 0.1) < SIGMAS * 0.1 / math.sqrt(2 * COUNT)
    added = noise_of(shared, "noise(normal(1, 0.1))", "hundred") - 100
    assert abs(np.corrcoef(factors, added)[0, 1]) < SIGMAS / math.sqrt(COUNT), "another draw"


def test_zero_and_null_under_multiplicative_noise(shared: Owner) -> None:
    fill(shared, [1, 2], [0.0, None], "INTEGER", "DOUBLE")
    release(shared, "noise(normal(1, 0.1), multiplicative => true)")
    assert released(shared) == [0.0, None]


@pytest.mark.parametrize("type_", ["TINYINT", "BIGINT", "DECIMAL(10,2)", "FLOAT", "HUGEINT"])
def test_numbers_of_every_type_become_double(shared: Owner, type_: str) -> None:
    fill(shared, [1, 2], [5, None], "INTEGER", type_)
    release(shared, "noise(normal(0, 1))")
    assert str(shared.sql("SELECT x FROM r.t").types[0]) == "DOUBLE"
    found, missing = released(shared)
    assert missing is None
    assert found == pytest.approx(5 + NormalDist().inv_cdf(by_hand(shared, 1, 5.0)), rel=1e-14)


def test_dates_move_by_whole_days_and_times_to_the_second(shared: Owner) -> None:
    days = [date(2020, 2, 28) + timedelta(7 * i) for i in range(12)]
    fill(shared, range(12), days, "INTEGER", "DATE")
    release(shared, "noise(normal(0, 30))")
    assert str(shared.sql("SELECT x FROM r.t").types[0]) == "DATE"
    for row, (before, after) in enumerate(zip(days, released(shared), strict=True)):
        moment = (before - date(1970, 1, 1)).days * 86_400e6
        e = 30 * NormalDist().inv_cdf(by_hand(shared, row, moment))
        assert (after - before).days == math.floor(e + 0.5)
    moments = [datetime(2020, 2, 28, 13, 30, 0, 1), None]
    fill(shared, [1, 2], moments, "INTEGER", "TIMESTAMP")
    release(shared, "noise(uniform(10, 20))")
    moved, missing = released(shared)
    assert missing is None
    away = moved - moments[0]
    assert away == timedelta(seconds=int(away.total_seconds()))
    assert timedelta(10) <= away <= timedelta(20)


def test_what_has_no_sum_is_refused_at_creation_and_null_later(shared: Owner) -> None:
    wrong = ["nan", "infinity", "-infinity", "1e300"]
    fill(shared, range(5), [1.5, *wrong], "INTEGER", "DOUBLE")
    for noise in (
        "normal(0, 1)",
        "normal(1, 1), multiplicative => true",
        "normal(0, 1), rho => 50",
    ):
        with pytest.raises(TreatmentError) as caught:
            release(shared, f"noise({noise})")
        assert caught.value.what == f"noise: 4 rows of 'x' {LOST}"
    shared.execute("CREATE TABLE wrong AS FROM t WHERE id > 0; DELETE FROM t WHERE id > 0")
    release(shared, "noise(normal(0, 1))")
    shared.execute("INSERT INTO t FROM wrong; DROP TABLE wrong")
    assert [y is None for y in released(shared)] == [False, True, True, True, True]


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP"])
@pytest.mark.parametrize("rho", ["", ", rho => 0.000001", ", rho => 100"])
def test_infinite_dates_are_refused_whether_their_row_is_chosen_or_not(
    shared: Owner, type_: str, rho: str
) -> None:
    fill(shared, [1, 2], ["2020-01-01", "infinity"], "INTEGER", type_)
    with pytest.raises(TreatmentError) as caught:
        release(shared, f"noise(normal(0, 10){rho})")
    assert caught.value.what == f"noise: 1 row of 'x' {LOST}"


@pytest.mark.parametrize("type_", ["DATE", "TIMESTAMP"])
def test_days_that_no_calendar_has_are_refused_with_the_treatment_s_own_words(
    shared: Owner, type_: str
) -> None:
    fill(shared, [1], ["2020-01-01"], "INTEGER", type_)
    with pytest.raises(TreatmentError):
        release(shared, "noise(uniform(1e10, 2e10))")


def test_a_later_row_never_makes_the_whole_view_unreadable(shared: Owner) -> None:
    """Noise of 1e9 days: of many later rows some would leave the calendar."""
    fill(shared, [], [], "INTEGER", "DATE")
    shared.execute("INSERT INTO t VALUES (1, NULL)")
    try:
        release(shared, "noise(normal(0, 1e9))")
    except TreatmentError:
        return  # refused from the start: as good
    shared.execute("INSERT INTO t SELECT i, DATE '2020-01-01' FROM range(2, 2002) AS r (i)")
    assert len(shared.sql("SELECT x::VARCHAR FROM r.t").fetchall()) == 2001


def test_a_product_past_the_largest_double_is_refused(shared: Owner) -> None:
    fill(shared, [1], [1e250], "INTEGER", "DOUBLE")
    with pytest.raises(TreatmentError, match=r"cannot be computed|factors must stay below 1e\+06"):
        release(shared, "noise(normal(1e100, 1), multiplicative => true)")


@pytest.mark.parametrize("type_", ["DOUBLE", "FLOAT", "TIMESTAMPTZ", "INTEGER[]"])
def test_a_key_whose_text_depends_on_who_asks_is_refused(shared: Owner, type_: str) -> None:
    fill(shared, [], [], type_, "DOUBLE")
    with pytest.raises(BindError, match="needs a KEY that is always written the same way"):
        release(shared, "noise(normal(0, 1))")


def test_a_primary_key_is_held_to_the_same(shared: Owner) -> None:
    shared.execute("CREATE OR REPLACE TABLE t (id DOUBLE PRIMARY KEY, x DOUBLE)")
    with pytest.raises(BindError, match="needs a KEY that is always written the same way"):
        shared.execute("CREATE RELEASE r.double FROM t (x SENSITIVE AS noise(normal(0, 1)))")


def chosen(owner: Owner, rho: float, column: str = "zero") -> npt.NDArray[np.bool_]:
    """Return which of the many rows got noise."""
    found = noise_of(owner, f"noise(uniform(1, 2), rho => {rho})", column, "r.share")
    base = 100.0 if column == "hundred" else 0.0
    untouched = found == base
    assert (untouched | ((found > base + 1) & (found < base + 2))).all()
    touched: npt.NDArray[np.bool_] = ~untouched
    return touched


def test_rho_is_the_share_of_rows_that_get_noise(shared: Owner) -> None:
    for rho in (1.0, 5.0, 50.0):
        share, p = chosen(shared, rho).mean(), rho / 100
        assert abs(share - p) < SIGMAS * math.sqrt(p * (1 - p) / COUNT)
    assert chosen(shared, 100).all()


def test_a_larger_rho_keeps_every_row_of_a_smaller_one(shared: Owner) -> None:
    small, middle, large = (chosen(shared, rho) for rho in (1, 5.5, 20))
    assert (middle | ~small).all()
    assert (large | ~middle).all()
    assert small.sum() < middle.sum() < large.sum()


def test_the_chosen_rows_are_the_same_for_every_column_and_release(shared: Owner) -> None:
    noise = "noise(uniform(1, 2), uniform(1, 2), rho => 5)"
    release(shared, noise, "many", "(zero, hundred)", name="r.many")
    zero, hundred = (np.array(released(shared, c, "r.many")) for c in ("zero", "hundred"))
    assert ((zero != 0) == (hundred != 100)).all()
    assert ((zero != 0) == chosen(shared, 5, "zero")).all()
    assert ((zero != 0) == chosen(shared, 5, "hundred")).all()
    assert ((zero != 0) == chosen(shared, 5, "nought")).all()


def test_being_chosen_has_nothing_to_do_with_the_noise(shared: Owner) -> None:
    e = noise_of(shared, "noise(normal(0, 1))")
    selection = chosen(shared, 30).astype(float)
    assert abs(correlation(selection, e)) < SIGMAS
    assert abs(correlation(selection, np.arange(COUNT, dtype=float))) < SIGMAS


def test_chosen_rows_have_another_noise_than_without_rho(shared: Owner) -> None:
    """The same one would show, by where the two releases differ, which rows were left alone."""
    everywhere = noise_of(shared, "noise(normal(0, 1))")
    some = noise_of(shared, "noise(normal(0, 1), rho => 10)")
    assert not (some == everywhere).any()


def test_untouched_rows_leave_as_they_are(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE t AS SELECT i AS id, i + 0.1::DOUBLE AS x,"
        " DATE '2020-01-01' AS day FROM range(400) AS r (i);"
        "INSERT INTO t VALUES (400, NULL, NULL)"
    )
    with pytest.warns(PrivacyWarning, match="'x' that nobody else has"):  # most stand there as is
        release(
            shared, "noise(uniform(1000, 2000), uniform(1000, 2000), rho => 5)", columns="(x, day)"
        )
    numbers, days = released(shared), released(shared, "day")
    assert numbers[400] is days[400] is None
    changed = [row for row in range(400) if numbers[row] != row + 0.1]
    assert 0 < len(changed) < 60
    assert all(1000 < numbers[row] - row < 2001 for row in changed)
    assert [row for row in range(400) if days[row] != date(2020, 1, 1)] == changed


NO_KEY = """\
noise needs a row key
  line 1, column 47:
      CREATE RELEASE r.keyless FROM t (x NEUTRAL AS noise(normal(0, 1)))
                                                    ^^^^^^^^^^^^^^^^^^^
  list a KEY: without a treatment it stays with the owner"""


def test_without_a_key_there_is_no_noise(shared: Owner) -> None:
    fill(shared, [1], [1.5], "INTEGER", "DOUBLE")
    with pytest.raises(BindError) as caught:
        shared.execute("CREATE RELEASE r.keyless FROM t (x NEUTRAL AS noise(normal(0, 1)))")
    assert str(caught.value) == NO_KEY


def test_a_primary_key_will_do_and_gives_the_same_noise(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE keyed (id INTEGER PRIMARY KEY, x DOUBLE);"
        "INSERT INTO keyed SELECT i, i FROM range(100) AS r (i);"
        "CREATE OR REPLACE RELEASE r.named FROM keyed (id KEY, x SENSITIVE AS noise(normal(0, 9)));"
        "CREATE OR REPLACE RELEASE r.found FROM keyed (x SENSITIVE AS noise(normal(0, 9)))"
    )
    named, found = (shared.sql(f"FROM {name}").fetchall() for name in ("r.named", "r.found"))
    assert sorted(named) == sorted(found)


def test_a_primary_key_of_two_columns_will_not_do(shared: Owner) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE keyed (a INTEGER, b INTEGER, x INTEGER, PRIMARY KEY (a, b))"
    )
    with pytest.raises(BindError, match="needs a row key"):
        shared.execute("CREATE RELEASE r.two FROM keyed (x SENSITIVE AS noise(normal(0, 1)))")


REPEATED = r"^'x': 3 rows are of 2 persons, and all rows of a person get the same noise, so that"


def test_repeated_keys_are_said_aloud_and_share_their_noise(shared: Owner) -> None:
    fill(shared, [1, 1, 2], [0.0, 10.0, 0.0], "INTEGER", "DOUBLE")
    with pytest.warns(PrivacyWarning, match=REPEATED):
        release(shared, "noise(normal(0, 1), per => 'person')")
    first, second, other = sorted(
        shared.sql("SELECT id, x FROM r.t").fetchall(), key=lambda row: (row[0], row[1])
    )
    assert second[1] - first[1] == pytest.approx(10, rel=1e-14)
    assert other[1] != first[1]
    with pytest.warns(PrivacyWarning, match=REPEATED):
        shared.execute("REFRESH RELEASE r.t")


def test_a_value_without_a_key_is_refused_and_null_later(shared: Owner) -> None:
    fill(shared, [1, None], [1.0, 2.0], "INTEGER", "DOUBLE")
    for rho in ("", ", rho => 5"):
        with pytest.raises(TreatmentError) as caught:
            release(shared, f"noise(normal(0, 1){rho})")
        assert caught.value.what == f"noise: 1 row of 'x' {LOST}"
        assert caught.value.hint == (
            "a row without a KEY gets no noise; leave such rows out in a (SELECT …) source"
        )
    shared.execute("DELETE FROM t WHERE id IS NULL")
    release(shared, "noise(normal(0, 1))")
    shared.execute("INSERT INTO t VALUES (NULL, 5)")
    assert shared.sql("SELECT x FROM r.t WHERE id IS NULL").fetchall() == [(None,)]


def test_a_missing_key_beside_a_missing_value_is_only_said(shared: Owner) -> None:
    fill(shared, [1, None], [1.0, None], "INTEGER", "DOUBLE")
    with pytest.warns(PrivacyWarning, match="'x': 2 rows are of 1 person, and all rows"):
        release(shared, "noise(normal(0, 1), per => 'person')")
    release(shared, "noise(normal(0, 1))")  # nobody's values average


def test_an_empty_table_can_be_released(shared: Owner) -> None:
    fill(shared, [], [], "INTEGER", "DOUBLE")
    release(shared, "noise(normal(0, 1))")
    assert released(shared) == []


def test_keys_and_numbers_are_told_to_nobody(shared: Owner) -> None:
    fill(shared, [1, 2], [1.0, 2.0], "INTEGER", "DOUBLE")
    release(shared, "noise(normal(0.12345, 6.78901), rho => 12.3456)")
    releases = shared._releases
    bound = version_of(shared).release
    noise = bound.rules[1].steps[-1].treatment
    assert isinstance(noise, Noise)
    key = releases.keys.derive(
        "noise 2", noise._drawn_for(0, replace(releases.keys, formula=FORMULA))
    ).hex()[:32]
    told = [shared.explain("r.t"), repr(shared.describe("r.t")), repr(bound.rules[1].steps)]
    told += [repr(bound.rules[1].steps[0].treatment), repr(releases.keys)]
    told += [sql for (sql,) in shared.sql("SELECT sql FROM duckdb_views()").fetchall()]
    secrets = (key, "0.12345", "6.78901", "12.3456")
    assert not [text for text in told for secret in secrets if secret in text]


WRITE = "write normal(mean, stddev), uniform(low, high) or laplace(mean, scale)"


@pytest.mark.parametrize(
    ("columns", "arguments", "what", "hint"),
    [
        ("x", "rho => 5", "noise: 0 distributions for 1 columns", WRITE),
        ("x", "normal(0, 1), normal(0, 1)", "noise: 2 distributions for 1 columns", WRITE),
        ("(x, y)", "normal(0, 1)", "noise: 1 distributions for 2 columns", WRITE),
        ("x", "10", "noise takes distributions", WRITE),
        ("x", "gauss(0, 1)", "unknown distribution 'gauss'", "known: laplace, normal, uniform"),
        (
            "x",
            "norml(0, 1)",
            "unknown distribution 'norml'",
            "did you mean 'normal'? known: laplace, normal, uniform",
        ),
        ("x", "normal(0)", "normal: 'stddev' must be a number", WRITE),
        ("x", "normal('a', 1)", "normal: 'mean' must be a number", WRITE),
        ("x", "normal(0, true)", "normal: 'stddev' must be a number", WRITE),
        ("x", "normal(0, 1e101)", "normal: 'stddev' must be a number", WRITE),
        ("x", "normal(0, 1, 2)", "normal takes 2 arguments", None),
        ("x", "normal(0, sd => 1)", "unknown argument 'sd' of normal", None),
        ("x", "normal(0, 0)", "normal: 'stddev' must be above 0", None),
        ("x", "normal(0, -1)", "normal: 'stddev' must be above 0", None),
        ("x", "laplace(0, 0)", "laplace: 'scale' must be above 0", None),
        ("x", "uniform(1, 1)", "uniform: 'high' must be above 'low'", None),
        ("x", "uniform(2, 1)", "uniform: 'high' must be above 'low'", None),
        (
            "x",
            "normal(0, 1), rho => 0",
            "noise: 'rho' is the percentage of rows, above 0 and at most 100",
            None,
        ),
        (
            "x",
            "normal(0, 1), rho => 100.1",
            "noise: 'rho' is the percentage of rows, above 0 and at most 100",
            None,
        ),
        (
            "x",
            "normal(0, 1), rho => true",
            "noise: 'rho' is the percentage of rows, above 0 and at most 100",
            None,
        ),
        (
            "x",
            "normal(0, 1), multiplicative => 1",
            "noise: 'multiplicative' must be true or false",
            None,
        ),
        ("d", "normal(1, 1), multiplicative => true", "noise: a date cannot be multiplied", None),
        ("x", "normal(0, 1), seed => 1", "unknown argument 'seed' of noise", None),
        ("s", "normal(0, 1)", "noise cannot treat 's' of type VARCHAR", None),
        ("z", "normal(0, 1)", "noise cannot treat 'z' of type TIMESTAMP WITH TIME ZONE", None),
    ],
)
def test_what_it_refuses(
    shared: Owner, columns: str, arguments: str, what: str, hint: str | None
) -> None:
    shared.execute(
        "CREATE OR REPLACE TABLE t"
        " (id INTEGER, x DOUBLE, y DOUBLE, d DATE, s VARCHAR, z TIMESTAMPTZ)"
    )
    with pytest.raises(TreatmentError) as caught:
        release(shared, f"noise({arguments})", columns=columns)
    assert caught.value.what == what
    if hint is not None:
        assert caught.value.hint == hint


def test_what_it_says_of_itself() -> None:
    assert Noise.exactness is Exactness.NONE
    assert Noise.traits.uses_row_key
    assert Noise.undone_by.startswith("averaging")


@pytest.mark.parametrize("execution", ["native", "udf"])
def test_each_column_draws_once_and_rows_are_chosen_once(shared: Owner, execution: str) -> None:
    """Calls of Python are what noise costs: an expression that repeats one pays for it twice."""
    shared.execute(
        "CREATE OR REPLACE TABLE visits AS SELECT 1 AS id, DATE '2026-01-01' AS day, 2.5 AS cost;"
        "CREATE OR REPLACE RELEASE r.visits FROM visits (id KEY AS keep(),"
        " (day, cost) SENSITIVE AS noise(normal(0, 9), laplace(0, 2), rho => 50))"
        f" WITH (execution = '{execution}')"
    )
    text = shared.explain("r.visits")
    assert text.count("ppdm_normal(") == text.count("ppdm_laplace(") == 1
    assert text.count("ppdm_selected(") == 1


def test_noise_relative_to_the_column_keeps_its_size(owner: Owner) -> None:
    """A tenth of the standard deviation, of the version that was made first."""
    owner.execute(
        "CREATE TABLE t AS SELECT i AS id, (i % 100) * 10.0::DOUBLE AS x FROM range(20000) r(i)"
    )
    owner.execute(
        "CREATE RELEASE r.t FROM t (id KEY AS keep(), x SENSITIVE AS noise(normal(0, relative => 0.1), round => false))"
    )
    spread = "SELECT stddev_pop(r.x - t.x) / (SELECT stddev_pop(x) FROM t) FROM r.t AS r JOIN t USING (id)"
    ((found,),) = owner.execute(spread).fetchall()
    assert found == pytest.approx(0.1, abs=5 * 0.1 / math.sqrt(2 * 20000))
    before = owner.sql("SELECT x FROM r.t ORDER BY id LIMIT 50").fetchall()
    owner.execute("INSERT INTO t SELECT 20000 + i, 1e6 FROM range(50) r(i); REFRESH RELEASE r.t")
    assert owner.sql("SELECT x FROM r.t ORDER BY id LIMIT 50").fetchall() == before


@pytest.mark.parametrize(
    ("call", "what"),
    [
        ("noise(normal(0, 1, relative => 0.1))", "say the same"),
        ("noise(normal(0, relative => 0))", "above 0"),
        ("noise(uniform(0, 1, relative => 0.1))", "unknown argument|takes 2"),
        ("noise(normal(1, relative => 0.1), multiplicative => true)", "factors are relative"),
    ],
)
def test_a_relative_size_that_says_nothing_is_refused(owner: Owner, call: str, what: str) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, i::DOUBLE AS x FROM range(9) r(i)")
    with pytest.raises(TreatmentError, match=what):
        owner.execute(f"CREATE RELEASE r.t FROM t (id KEY, x SENSITIVE AS {call})")


def test_a_relative_size_of_a_constant_or_under_an_agreement_is_refused(owner: Owner) -> None:
    owner.execute("CREATE TABLE t AS SELECT i AS id, 5.0::DOUBLE AS x FROM range(9) r(i)")
    with pytest.raises(TreatmentError, match="no standard deviation"):
        owner.execute(
            "CREATE RELEASE r.t FROM t (id KEY, x SENSITIVE AS noise(laplace(0, relative => 1)))"
        )
    with pytest.raises(Refused, match="one site's rows"):
        owner.execute("CREATE AGREEMENT a (id KEY, x SENSITIVE AS noise(normal(0, relative => 1)))")
