"""Creation functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.plugin import Array
from xarrayops.testing._suite.compare import check_array
from xarrayops.testing._suite.samples import ALL, NUMERIC, sample
from xarrayops.testing._suite.table import NativeDtype, Row, call, called, created, exercises, row, rows_test
from xarrayops.testing._suite.variant import Variant, depends_on

LIKE = sample("int8", (2,))
X = sample("float32", (2, 3))


def shaped(verb: str, value: float) -> Row:
    """A row of ``zeros``, ``ones`` or ``empty``: with a shape, a dtype name, a native dtype, and ``like=``."""
    calls = [
        call((2, 3)),
        call(3),
        call(()),
        call((0, 2)),
        call((2,), like=LIKE),
        call((2,), dtype=NativeDtype("int32")),
    ]
    calls += [call((2, 2), dtype=d) for d in ALL]
    return created(verb, lambda shape, **where: np.full(shape, value), *calls, values=verb != "empty")


def shaped_like(verb: str, *args: Any) -> Row:
    """A row of ``zeros_like`` or a similar function: with every dtype, and with 0-d and empty arrays."""
    calls = [call(X, *args), call(X, *args, dtype="int64"), call(sample("float64", ()), *args)]
    calls += [call(sample("float32", (0, 2)), *args), call(X, *args, dtype=NativeDtype("float64"))]
    calls += [call(sample(d, (2, 3)), *args) for d in ALL]
    oracle = getattr(np, verb)
    return row(verb, lambda x, *a, dtype=None: oracle(x, *a), *calls, dtype="first", values=verb != "empty_like")


INTEGERS = {"dtype": "integral", "label": "integers"}
BOOLEANS = {"dtype": "bool", "label": "booleans"}
COMPLEX = {"dtype": "complex floating", "label": "complex"}
ROWS = [
    created("arange", np.arange, call(5), call(1, 6, 2), call(3, 0, -1), call(0, like=LIKE), **INTEGERS),
    created(
        "arange",
        np.arange,
        call(1.5),
        call(0.0, 1.0, 0.25),
        call(3, dtype="float32"),
        call(3, dtype=NativeDtype("int8")),
    ),
    shaped("empty", 0),
    shaped_like("empty_like"),
    created(
        "eye",
        np.eye,
        call(3),
        call(2, 4, k=1),
        call(3, 2, k=-1, dtype="float32"),
        call(0),
        call(2, like=LIKE),
        *(call(2, dtype=d) for d in NUMERIC),
    ),
    created("full", np.full, call((2, 3), 2.5), call((), 0.5, like=LIKE), *(call((2,), 1, dtype=d) for d in ALL)),
    created("full", np.full, call((2, 3), 7), call(3, -1), **INTEGERS),
    created("full", np.full, call((2, 3), True), **BOOLEANS),
    created("full", np.full, call((2,), 1 + 2j), **COMPLEX),
    shaped_like("full_like", 1),
    created(
        "linspace",
        np.linspace,
        call(0.0, 1.0, 5),
        call(-2, 3, 6, endpoint=False),
        call(0, 1, 1),
        call(0, 1, 0),
        call(0.0, 4.0, 5, dtype="float32"),
        call(0.0, 4.0, 5, dtype="float64"),
        call(0, 1, 3, like=LIKE),
    ),
    row(
        "meshgrid",
        np.meshgrid,
        call(sample("float32", (3,)), sample("float32", (2,), seed=1)),
        call(sample("int64", (3,)), sample("int64", (2,), seed=1), indexing="ij"),
        call(sample("float64", (2,))),
        call(*(sample("int8", (n,)) for n in (2, 3, 4)), indexing="ij"),
    ),
    shaped("ones", 1),
    shaped_like("ones_like"),
    shaped("zeros", 0),
    shaped_like("zeros_like"),
    created(
        "asarray",
        np.asarray,
        call([1.5, 2.0]),
        call([[1.0, 2.0], [3.0, 4.0]]),
        call(2.5),
        call([], dtype="float64"),
        call([1, 2], dtype="float32"),
        call([1.0], like=LIKE),
        *(call([0, 1], dtype=d) for d in ALL),
    ),
    created("asarray", np.asarray, call([1, 2]), call(3), **INTEGERS),
    created("asarray", np.asarray, call([True, False]), call(True), **BOOLEANS),
    created("asarray", np.asarray, call([1j, 2]), call(1j), **COMPLEX),
    row(
        "from_dlpack",
        lambda x, **options: x,
        call(X, like=X),
        call(sample("int8", ()), like=X, copy=True),
        dtype="first",
    ),
    row(
        "asarray",
        lambda x, **options: x,
        call(X),
        call(X, copy=True),
        call(X, dtype="float64"),
        dtype="first",
        label="arrays",
    ),
]


class CreationSuite:
    """Creation functions."""

    # Class, dtype, device, shape and values match the oracle; the default dtype is the library's.
    test_creation = rows_test(ROWS)

    @depends_on("memory")
    @exercises("asarray")
    def test_asarray_copy_argument(self, variant: Variant) -> None:
        """The default returns x or shares its memory; ``copy=True`` returns new memory."""
        x = variant.array(X)
        assert xo.asarray(x) is x or xo.shares_memory(xo.asarray(x), x)
        assert not xo.shares_memory(xo.asarray(x, copy=True), x)

    @depends_on("memory")
    @exercises("asarray")
    def test_asarray_of_a_numpy_array(self, variant: Variant) -> None:
        """``asarray`` converts an array of another library only if ``like=`` requests it."""
        like = variant.array(X)
        check_array(variant, xo.asarray(X, like=like), X, dtype="float32")
        assert xo.array_namespace(xo.asarray(X)) is xo.backend("numpy").namespace

    @depends_on("memory")
    @exercises("from_dlpack")
    def test_from_dlpack(self, variant: Variant) -> None:
        """``from_dlpack`` accepts NumPy's arrays and the library's own."""
        x = variant.array(X)
        check_array(variant, xo.from_dlpack(X.copy(), like=x), X, dtype="float32")
        check_array(variant, xo.from_dlpack(x, like=x), X, dtype="float32")
        check_array(variant, xo.from_dlpack(x, like=x, copy=True), X, dtype="float32")

    @depends_on("run")
    @exercises("zeros", "use")
    def test_use_sets_the_default_backend(self, variant: Variant) -> None:
        """``xo.use`` sets the backend and device of creation functions, compiled ones too."""
        if isinstance(variant.library, str):
            with xo.use(variant.library, device=variant.device_name):
                zeros = variant.run(xo.zeros, (2,))
                check_array(variant, zeros, np.zeros(2), dtype=variant.defaults["real floating"])
                check_array(variant, xo.asarray([1.0], dtype="float32"), [1.0], dtype="float32")

    @depends_on("run")
    @exercises("zeros", "use")
    def test_use_inside_a_function(self, variant: Variant) -> None:
        """``xo.use`` works inside a function that is compiled or run as a whole."""

        def create(library: str, device: str | None) -> Array:
            with xo.use(library, device=device):
                return xo.zeros((2,))

        if isinstance(variant.library, str):
            zeros = called(variant, "use", create, variant.library, variant.device_name)
            check_array(variant, zeros, np.zeros(2), dtype=variant.defaults["real floating"])
            explicit = variant.run(lambda: xo.zeros((2,), **variant.creation))
            check_array(variant, explicit, np.zeros(2), dtype=variant.defaults["real floating"])

    @depends_on("run")
    @exercises("set_default")
    def test_set_default(self, variant: Variant) -> None:
        """``xo.set_default`` sets the backend, device and floating-point dtype of creation functions."""
        if isinstance(variant.library, str):
            try:
                xo.set_default(variant.library, device=variant.device_name, dtype="float16")
                check_array(variant, variant.run(lambda: xo.zeros((2,))), np.zeros(2), dtype="float16")
                check_array(
                    variant, variant.run(lambda: xo.arange(2)), np.arange(2), dtype=variant.defaults["integral"]
                )
            finally:
                xo.set_default()

    @exercises("zeros", "full", "asarray", "linspace")
    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    def test_like_gives_the_floating_dtype(self, variant: Variant, dtype: str) -> None:
        """A floating-point ``like=`` replaces the default floating-point dtype, and no other default dtype."""
        x = variant.array(X.astype(dtype))
        uses: list[tuple[str, Callable[[Any], Array], Any, str]] = [
            ("zeros", lambda x: xo.zeros((2,), like=x), np.zeros(2), dtype),
            ("full", lambda x: xo.full((2,), 0.1, like=x), np.full(2, 0.1), dtype),
            ("asarray", lambda x: xo.asarray([0.1], like=x), [0.1], dtype),
            ("linspace", lambda x: xo.linspace(0, 1, 3, like=x), [0, 0.5, 1], dtype),
            ("asarray", lambda x: xo.asarray([1], like=x), [1], variant.defaults["integral"]),
        ]
        for verb, use, want, expected in uses:
            check_array(variant, called(variant, verb, use, x), want, dtype=expected)

    @depends_on()
    def test_like_and_backend_exclude_each_other(self, variant: Variant) -> None:
        """``like=`` and ``backend=`` together raise."""
        with pytest.raises(TypeError, match="not both"):
            xo.zeros(2, like=variant.make(X), backend="numpy")

    @depends_on()
    def test_unknown_device_and_dtype(self, variant: Variant) -> None:
        """An unknown device or dtype raises, and the message names it."""
        x = variant.make(X)
        with pytest.raises(xo.Unsupported, match=r"no device 'nowhere:7': "):
            xo.zeros(2, like=x, device="nowhere:7")
        with pytest.raises(xo.Unsupported, match=r"no device 'nowhere:7': "):
            xo.to_device(x, "nowhere:7")
        with pytest.raises(xo.Unsupported, match="no dtype 'float23'"):
            xo.zeros(2, like=x, dtype="float23")
        with pytest.raises(xo.Unsupported, match="no dtype 'float23'"):
            xo.astype(x, "float23")
