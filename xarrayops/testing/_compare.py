"""One comparison: class, dtype, device, shape and values, in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from xarrayops._core.registry import describe_class
from xarrayops.plugin import Array
from xarrayops.testing._variant import Variant

if TYPE_CHECKING:
    from numpy.typing import NDArray


def check_array(
    variant: Variant,
    got: Array,
    want: Any,
    *,
    dtype: str | None,
    ulps: float = 16,
    normwise: bool = False,
    values: bool = True,
) -> None:
    """Hold a result against what the oracle says.

    Parameters
    ----------
    variant : Variant
        Whose result it is.
    got : array
        The result.
    want : array_like
        What the oracle says, in double precision.
    dtype : str or None
        The dtype that the result must have; None accepts any.
    ulps : float
        The error that is allowed, in units of the dtype's epsilon.
    normwise : bool
        Measure the error against the largest value of the result (sums of products), not against each one.
    values : bool
        False where the values are not determined (``empty``).

    Raises
    ------
    AssertionError
        It begins with what is wrong: class, dtype, device, shape or values.
    """
    backend = variant.backend
    assert isinstance(got, backend.module.ARRAY_TYPES), (
        f"class: {describe_class(type(got))} is none of {backend.name}'s ARRAY_TYPES"
    )
    found = backend.functions["dtype_name"](got.dtype)
    assert dtype in (None, found), f"dtype: {found}, expected {dtype}"
    device = backend.functions["device"](got)
    assert device == variant.device, f"device: {device}, expected {variant.device}"
    want = np.asarray(want)
    if all(isinstance(extent, int) for extent in got.shape):  # a lazy library may know a shape only with the values
        assert tuple(got.shape) == want.shape, f"shape: {tuple(got.shape)}, expected {want.shape}"
    host = variant.values(got)
    assert host.shape == want.shape, f"shape: {host.shape} once computed, expected {want.shape}"
    if values:
        check_values(host, want, ulps=ulps, normwise=normwise)


def check_values(got: NDArray[Any], want: NDArray[Any], *, ulps: float, normwise: bool) -> None:
    """Compare values within the error that their dtype allows; NaN equals NaN."""
    with np.errstate(all="ignore"):
        if want.dtype.kind in "fc" and got.dtype.kind in "fc":
            want = want.astype(got.dtype) if got.dtype.kind == "c" or want.dtype.kind == "f" else want
    if got.dtype.kind not in "fc":
        equal = got == want
    else:
        wide = "complex128" if "c" in (got.dtype.kind, want.dtype.kind) else "float64"
        budget = ulps * float(np.finfo(got.dtype).eps)
        finite = np.abs(want[np.isfinite(want)])
        scale = float(finite.max()) if normwise and finite.size else 0.0
        equal = np.isclose(
            got.astype(wide), want.astype(wide), rtol=budget, atol=budget * max(scale, 1e-3), equal_nan=True
        )
    if not np.all(equal):
        worst = tuple(int(i) for i in np.argwhere(~equal)[0])
        raise AssertionError(
            f"values: {np.sum(~equal)} of {equal.size} differ, first at {worst}: {got[worst]}, expected {want[worst]}"
        )


def check_unchanged(variant: Variant, x: Array, before: NDArray[Any]) -> None:
    """An input must still hold what it held."""
    after = variant.values(x)
    assert np.array_equal(after, before, equal_nan=before.dtype.kind in "fc"), "input: the call has written to it"


def is_namedtuple_with(result: Any, fields: tuple[str, ...]) -> bool:
    """Whether a result offers its members by name, as the standard says of ``eigh`` and its like."""
    return all(getattr(result, name, None) is member for name, member in zip(fields, result, strict=True))
