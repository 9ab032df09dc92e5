"""How DuckDB calls a kernel: whole arrays in, and no exception that could tell a value."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ppdm_sql.engine.kernel import KernelError, guarded, is_constant

SECRET = "Ada Lovelace"


def chunked(*chunks: list[int]) -> pa.ChunkedArray:
    return pa.chunked_array(chunks, pa.int64())


def test_chunks_become_one_array() -> None:
    seen = []

    def double(x: pa.Array) -> pa.Array:
        seen.append(x)
        return pc.multiply(x, 2)

    assert guarded("ppdm_double", double)(chunked([1, 2], [3])).to_pylist() == [2, 4, 6]
    assert isinstance(seen[0], pa.Array)


def test_several_columns_keep_their_order() -> None:
    assert guarded("ppdm_less", pc.subtract)(chunked([5]), chunked([3])).to_pylist() == [2]


def test_what_a_kernel_says_itself_is_passed_on() -> None:
    def refuse(_: pa.Array) -> pa.Array:
        raise KernelError("the key must be right")

    with pytest.raises(KernelError, match=r"^the key must be right$"):
        guarded("ppdm_refuse", refuse)(chunked([1]))


@pytest.mark.parametrize("error", [ValueError, pa.ArrowInvalid, KeyError, ZeroDivisionError])
def test_any_other_text_is_replaced(error: type[Exception]) -> None:
    def fail(_: pa.Array) -> pa.Array:
        raise error(SECRET)

    with pytest.raises(KernelError) as caught:
        guarded("ppdm_fail", fail)(chunked([1]))
    assert str(caught.value) == "ppdm_fail: these arguments cannot be computed"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__, "a traceback would show the first text"


def test_an_interrupt_is_not_swallowed() -> None:
    def interrupt(_: pa.Array) -> pa.Array:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        guarded("ppdm_wait", interrupt)(chunked([1]))


def test_a_refusal_is_a_value_error_for_those_who_call_kernels_from_python() -> None:
    assert issubclass(KernelError, ValueError)


@pytest.mark.parametrize(
    ("values", "same"),
    [
        ([], True),
        ([None], True),
        (["a"], True),
        (["a", "a", "a"], True),
        (["a", "a", "b"], False),
        (["a", None, "a"], False),
        (["aa", "a", "aaa"], False),
        ([[1.0, 2.0], [1.0, 2.0]], True),
        ([[1.0, 2.0], [1.0, 3.0]], False),
        ([[1.0], [1.0, 1.0]], False),
        ([1.5, float("nan"), float("nan")], False),
    ],
)
def test_a_constant_is_the_same_in_every_row(values: list[object], same: bool) -> None:
    assert is_constant(pa.array(values)) is same
    assert is_constant(pa.array([*values, *values[:1]]).slice(0, len(values))) is same
