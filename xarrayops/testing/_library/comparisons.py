"""Comparisons of arrays of any library: class, dtype, shape and device, and then the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import xarrayops as xo
from xarrayops import compat

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCALARS = (bool, int, float, complex)


def assert_equal(actual: Any, desired: Any, *, check_dtype: bool = True, check_device: bool = True) -> None:
    """Assert that two arrays are equal, NaNs included: of one library, dtype, shape and device.

    Parameters
    ----------
    actual : array
        The result of the tested function.
    desired : array, or Python number
        An array of the same library. A number is compared with a 0-d array.
    check_dtype, check_device : bool
        False allows another dtype or another device.

    Raises
    ------
    AssertionError
        They differ; the message says in what.
    """
    np.testing.assert_array_equal(*_pair(actual, desired, check_dtype, check_device))


def assert_close(
    actual: Any,
    desired: Any,
    *,
    rtol: float | None = None,
    atol: float = 0.0,
    check_dtype: bool = True,
    check_device: bool = True,
) -> None:
    """Assert that two arrays are close: ``abs(actual - desired) <= atol + rtol * abs(desired)``.

    Parameters
    ----------
    actual, desired, check_dtype, check_device
        As for `assert_equal`.
    rtol : float, optional
        By default four times the square root of the spacing of the dtype's numbers at 1, and 0 for integers.
    atol : float
        The absolute tolerance.
    """
    got, want = _pair(actual, desired, check_dtype, check_device)
    if rtol is None:
        is_inexact = xo.isdtype(actual.dtype, ("real floating", "complex floating"))
        rtol = 4 * float(xo.finfo(actual).eps) ** 0.5 if is_inexact else 0.0
    np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)


def assert_less(actual: Any, desired: Any, *, check_dtype: bool = True, check_device: bool = True) -> None:
    """Assert that each number of the first array is less than that of the second; arguments as for `assert_equal`."""
    np.testing.assert_array_less(*_pair(actual, desired, check_dtype, check_device))


def _pair(actual: Any, desired: Any, check_dtype: bool, check_device: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as NumPy arrays of the same shape, after the checks of all that their values do not show."""
    if not compat.is_array_api_obj(actual):
        raise AssertionError(f"the result is not an array but a {type(actual).__name__}")
    if isinstance(desired, _SCALARS):
        assert actual.shape == (), f"the result has the shape {actual.shape}, and the expected value is a number"
        return _values(actual), np.asarray(desired)
    libraries = [compat.array_namespace(x) for x in (actual, desired)]
    names = [xp.__name__ for xp in libraries]
    assert names[0] == names[1], f"the result is an array of {names[0]}, and the expected one of {names[1]}"
    if names[0] == "numpy":
        classes = [type(x).__name__ for x in (actual, desired)]
        assert classes[0] == classes[1], f"the result is a {classes[0]}, and the expected value a {classes[1]}"
    if check_dtype:
        assert actual.dtype == desired.dtype, f"the result has the dtype {actual.dtype}, not {desired.dtype}"
    if check_device:
        devices = [compat.device(x) for x in (actual, desired)]
        assert devices[0] == devices[1], f"the result is on {devices[0]}, not on {devices[1]}"
    got, want = _values(actual), _values(desired)
    assert got.shape == want.shape, f"the result has the shape {got.shape}, not {want.shape}"
    return got, want


def _values(x: Any) -> NDArray[Any]:
    """The numbers on the host. A gradient is not needed for them."""
    return np.asarray(xo.convert(x.detach() if getattr(x, "requires_grad", False) else x, "numpy"))
