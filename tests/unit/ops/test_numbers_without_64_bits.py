"""Python numbers and NumPy's scalars next to arrays of JAX without 64-bit types: no call of xo refuses them."""

import numpy as np
import pytest

import xarrayops as xo

jax = pytest.importorskip("jax")
ml_dtypes = pytest.importorskip("ml_dtypes")
ARITHMETIC = ("add", "subtract", "multiply", "floor_divide", "remainder", "pow", "maximum", "minimum")
FLOATING = ("divide", "atan2", "hypot", "copysign", "logaddexp")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
OF_TRUTH = ("logical_and", "logical_or", "logical_xor")
OF_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift")
PAIRS = {
    "xo.where(x > 1, x, {n})": "np.where(x > 1, x, {n})",
    "xo.where(x > 1, {n}, x)": "np.where(x > 1, {n}, x)",
    "xo.full_like(x, {n})": "np.full_like(x, {n})",
    "xo.full((2,), {n}, like=x)": "np.full((2,), {n})",
    "xo.clip(x, {n}, 3)": "np.clip(x, {n}, 3)",
    "xo.insert(x, 1, {n})": "np.insert(x, 1, {n})",
    "xo.diff(x, prepend={n})": "np.diff(x, prepend=np.asarray({n}, np.result_type(x, {n})))",
    "xo.diff(x, append={n})": "np.diff(x, append=np.asarray({n}, np.result_type(x, {n})))",
    "xo.isin(x, {n})": "np.isin(x, {n})",
    "xo.searchsorted(x, {n})": "np.searchsorted(x, {n})",
    "xo.repeat(x, S(2))": "np.repeat(x, 2)",
    "xo.pad(x, S(1), constant_values={n})": "np.pad(x, 1, constant_values={n})",
    "xo.isclose(x, {n})": "np.isclose(x, {n})",
    "xo.asarray({n}, like=x)": "np.asarray({n})",
    "xo.asarray([{n}, 1], like=x)": "np.asarray([{n}, 1])",
    "xo.at(x)[0].set({n})": "np.concatenate([np.asarray([{n}]).astype(x.dtype), x[1:]])",
    "xo.at(x)[0].add({n})": "np.concatenate([(x[:1] + np.asarray({n}).astype(x.dtype)), x[1:]])",
    "xo.one_hot(i, S(3), dtype=x.dtype)": "np.eye(3)[i]",
    "xo.arange(S(3), like=x)": "np.arange(3)",
    "xo.linspace(S(0), {n}, 3, like=x)": "np.linspace(0, {n}, 3)",
    "xo.polyval(x, {n})": "np.polyval(x, {n})",
    "xo.cumulative_sum(xo.multiply(x, {n}))": "np.cumsum(x * {n})",
    "xo.nan_to_num(x, nan={n})": "np.nan_to_num(x)",
    "xo.roll(x, S(1))": "np.roll(x, 1)",
    "xo.argsort(xo.multiply(x, -{n}))": "np.argsort(-x * {n}, stable=True)",
    "xo.quantile(x, S(0.5))": "np.quantile(x, 0.5)",
    "xo.count_nonzero(x > {n})": "np.count_nonzero(x > {n})",
    "xo.trapezoid(x, dx={n})": "np.trapezoid(x, dx={n})",
    "xo.gradient(x, {n})": "np.gradient(x, {n})",
    "xo.histogram(x, S(2))[0]": "np.histogram(x, 2)[0]",
    "xo.bincount(i, minlength=S(4))": "np.bincount(i, minlength=4)",
    "xo.interp({n}, xo.astype(x, float), xo.astype(x, float))": "np.interp({n}, x, x)",
}


def calls(dtype):
    """Each call of ours with NumPy's, for each number: of Python, and as a scalar of NumPy of 64 bits."""
    whole = dtype == "int32"
    names = (*ARITHMETIC, *FLOATING, *COMPARISONS, *OF_TRUTH, *(OF_BITS if whole else ()))
    pairs = dict(PAIRS)
    for name in names:
        theirs = {"atan2": "arctan2"}.get(name, name)
        pairs[f"xo.{name}(x, {{n}})"] = f"np.{theirs}(x, {{n}})"
        pairs[f"xo.{name}({{n}}, x)"] = f"np.{theirs}({{n}}, x)"
    for ours, theirs in pairs.items():
        for number in ("2", "0.5"):
            if number == "0.5" and (any(f".{name}(" in ours for name in OF_BITS) or ("at(x)" in ours and whole)):
                continue
            for given in (number, f"S({number})"):
                yield ours.replace("{n}", given), theirs.replace("{n}", number)


@pytest.mark.more_in_sweeps
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_numbers_are_weak(dtype, sweeping):
    x, i = np.asarray([1, 2, 3, 5]).astype(dtype), np.asarray([0, 2, 1], "int32")
    wide = x.astype("float32") if dtype == "bfloat16" else x
    tolerance, faults = (2e-2 if dtype == "bfloat16" else 1e-5), []
    with jax.enable_x64(False), np.errstate(all="ignore"):
        arrays = {"x": xo.convert(x, "jax", copy=True), "i": xo.convert(i, "jax", copy=True)}
        scope = {"xo": xo, "S": lambda v: np.int64(v) if isinstance(v, int) else np.float64(v), **arrays}
        for ours, theirs in list(calls(dtype))[:: 1 if sweeping or dtype == "float32" else 4]:
            wanted = np.asarray(eval(theirs, {"np": np, "x": wide, "i": i}))
            try:
                found = eval(ours, scope)
            except Exception as error:
                faults.append(f"{ours}: {type(error).__name__}: {str(error)[:150]}")
                continue
            held = np.asarray(found)
            is_narrow = held.dtype.name in ("bool", "int32", "float32", "bfloat16")
            near = held.shape == wanted.shape and np.allclose(held.astype(wanted.dtype), wanted, tolerance, tolerance)
            if not is_narrow or not near or (held.dtype.kind == "b") != (wanted.dtype.kind == "b"):
                faults.append(f"{ours}: {held.dtype} {held.tolist()}, not {wanted.tolist()}")
    assert not faults, "\n".join(faults)
