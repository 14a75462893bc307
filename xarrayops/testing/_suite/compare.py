"""Comparison of results with the oracle: class, dtype, device, shape and values, in this order."""

from __future__ import annotations

from typing import Any

import numpy as np

from xarrayops._core.backends.registry import describe_class
from xarrayops.plugin import Array
from xarrayops.testing._suite.samples import Host
from xarrayops.testing._suite.variant import Variant


def check_array(
    variant: Variant,
    got: Array,
    want: Any,
    *,
    dtype: str | None,
    ulps: float = 16,
    normwise: bool = False,
    values: bool = True,
    host: Host | None = None,
) -> None:
    """Compare a result with the oracle's.

    Parameters
    ----------
    variant : Variant
        The variant that made the result.
    got : array
        The result under test.
    want : array_like
        The oracle's result, in double precision.
    dtype : str or None
        The required dtype of the result; None accepts any dtype.
    ulps : float
        The allowed error, in units of the dtype's epsilon.
    normwise : bool
        Measure the error relative to the largest value of the result (for sums of products), not to each value.
    values : bool
        Whether to compare values; False if they are undefined (``empty``).
    host : numpy.ndarray, optional
        The values of the result, if they are already computed.

    Raises
    ------
    AssertionError
        The message begins with the property that differs: class, dtype, device, shape or values.
    """
    backend = variant.backend
    assert isinstance(got, backend.module.ARRAY_TYPES), (
        f"class: {describe_class(type(got))} is not in the ARRAY_TYPES of {backend.name}"
    )
    found = backend.functions["dtype_name"](got.dtype)
    assert dtype in (None, found), f"dtype: {found}, expected {dtype}"
    device = backend.functions["device"](got)
    assert device == variant.device, f"device: {device}, expected {variant.device}"
    want = np.asarray(want)
    if all(isinstance(extent, int) for extent in got.shape):  # the shape of a lazy array may be unknown
        assert tuple(got.shape) == want.shape, f"shape: {tuple(got.shape)}, expected {want.shape}"
    host = variant.values(got) if host is None else host
    assert host.shape == want.shape, f"shape: {host.shape} after computing, expected {want.shape}"
    if values:
        check_values(host, want, ulps=ulps, normwise=normwise)


def check_values(got: Host, want: Host, *, ulps: float, normwise: bool) -> None:
    """Compare values within an error of ``ulps`` epsilons of their dtype; NaN equals NaN."""
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


def check_unchanged(variant: Variant, x: Array, before: Host, *, host: Host | None = None) -> None:
    """Check that the call did not write to an input; ``host`` are its values, if they are already computed."""
    after = variant.values(x) if host is None else host
    assert np.array_equal(after, before, equal_nan=before.dtype.kind in "fc"), "input: the call has written to it"


def is_namedtuple_with(result: Any, fields: tuple[str, ...]) -> bool:
    """Whether a result is a named tuple with these fields, as the standard requires for ``eigh`` and others."""
    return all(getattr(result, name, None) is member for name, member in zip(fields, result, strict=True))
