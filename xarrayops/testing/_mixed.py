"""Arguments that no one library serves: mixed libraries, lists, objects, masks, nothing at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.testing import _creation, _elementwise, _indexing, _linalg, _manipulation, _reductions
from xarrayops.testing._foreign import ForeignArray, foreigners
from xarrayops.testing._samples import sample
from xarrayops.testing._table import Call, Row
from xarrayops.testing._variant import Variant

TABLES = (_creation, _elementwise, _indexing, _linalg, _manipulation, _reductions)
SEVERAL = {
    r.verb: (r, c)
    for t in TABLES
    for r in t.ROWS
    for c in reversed(r.calls)
    if r.function is None and "like" not in c.kwargs and len(c.arrays) > 1
}
"""The first call with several arrays for each verb that takes them."""
Use = Callable[[], Any]
MASKED: np.ma.MaskedArray[Any, Any] = np.ma.masked_array([1.0, 2.0], mask=[True, False])


class MixedSuite:
    """Mixtures and what is no array."""

    @pytest.mark.parametrize("verb", SEVERAL)
    def test_mixed_libraries(self, variant: Variant, verb: str) -> None:
        """In every place of a call, members of sequences too, an array of another library raises and names the cure."""
        row, case = SEVERAL[verb]
        for library, stranger in foreigners(variant).items():
            for mixed in _with_stranger(variant, row, case, stranger):
                with pytest.raises(xo.MixedBackends) as caught:
                    row.public(*mixed.args, **mixed.kwargs)
                message = str(caught.value)
                for part in (f"xo.{verb}", variant.backend.name, library, "xo.convert("):
                    assert part in message, f"{mixed.kwargs or ''} the message lacks {part!r}: {message}"

    def test_numpy_scalars_are_arrays(self, variant: Variant) -> None:
        """``np.float64(1)`` beside another library's array is a mixture, Python's 1.0 is not."""
        x = variant.array(sample("float64"))
        if "numpy" in foreigners(variant):
            with pytest.raises(xo.MixedBackends, match="numpy"):
                xo.add(x, np.float64(1))
        else:
            assert xo.add(x, np.float64(1)).shape == x.shape

    def test_array_namespace_of_a_mixture(self, variant: Variant) -> None:
        """array_namespace refuses as calls do; scalars and None belong to any library."""
        x = variant.array(sample("float32"))
        assert xo.array_namespace(x, 1.0, None, x) is variant.backend.namespace
        with pytest.raises(xo.MixedBackends, match=r"arrays\[1\]"):
            xo.array_namespace(x, ForeignArray())

    NO_ARRAYS = ([1.0, 2.0], "text", {"a": 1}, object(), range(3))

    @pytest.mark.parametrize("bad", NO_ARRAYS, ids=lambda bad: type(bad).__name__)
    def test_no_array(self, variant: Variant, bad: Any) -> None:
        """What is no array of a library is refused by its name, beside an array and alone."""
        x = variant.array(sample("float32", (2,)))
        uses: list[Use] = [
            lambda: xo.add(x, bad),
            lambda: xo.add(bad, x),
            lambda: xo.sum(bad),
            lambda: xo.stack([x, bad]),
        ]
        for use in uses:
            with pytest.raises(xo.BackendNotFound, match="asarray"):
                use()

    @pytest.mark.parametrize("bad", [MASKED, np.asarray([{}, None])], ids=["masked", "objects"])
    def test_numpy_arrays_that_are_not_served(self, variant: Variant, bad: Any) -> None:
        """Masked and object arrays raise Unsupported with the way out, beside arrays of any library."""
        x = variant.array(sample("float64", (2,)))
        uses: list[Use] = [lambda: xo.concat([x, bad]), lambda: xo.sum(bad), lambda: xo.convert(bad, variant.library)]
        for use in uses:
            with pytest.raises((xo.Unsupported, xo.ExchangeError), match="Instead"):
                use()

    def test_numbers_where_arrays_must_be(self, variant: Variant) -> None:
        """A Python number is an operand, and no array: the error names the argument, beside an array and alone."""
        x = variant.array(sample("float32", (2, 2)))
        uses: dict[str, Use] = {
            "x": lambda: xo.sum(2.0),
            "x1": lambda: xo.matmul(2.0, x),
            "x2": lambda: xo.linalg.solve(x, 2.0),
            "condition": lambda: xo.where(True, x, x),
            "indices": lambda: xo.take(x, 1, axis=0),
            "arrays[1]": lambda: xo.concat([x, 1.0]),
            "operands[1]": lambda: xo.einsum("ij,->ij", x, 2.0),
        }
        for name, use in uses.items():
            with pytest.raises(xo.BackendNotFound, match=rf"argument {re.escape(name)} is .*, but it must be an array"):
                use()

    def test_nothing_to_tell_by(self) -> None:
        """Scalars alone name no library."""
        uses: list[Use] = [lambda: xo.add(1, 2.0), lambda: xo.concat([]), lambda: xo.where(True, 1, 2)]
        for use in uses:
            with pytest.raises(xo.BackendNotFound):
                use()


def _with_stranger(variant: Variant, row: Row, case: Call, stranger: Any) -> Iterator[Call]:
    """The call as often as it has arrays, each time with the stranger in the place of another one."""
    for place in range(len(case.arrays)):
        count = iter(range(len(case.arrays)))

        def array(a: Any, place: int = place, count: Iterator[int] = count) -> Any:
            return stranger if next(count) == place else variant.array(a)

        yield case.filled(array, variant.backend.native_dtype)
