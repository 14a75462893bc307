"""A call of every function of `xarrayops` and of `xarrayops.numpy`, and a program that makes it first while compiling.

In the calls of `xarrayops`, x is a vector of 8 numbers, i of 8 indices, b of 8 truth values, m a matrix of 4 rows and 2
columns, s a positive definite matrix, v a vector of 3 numbers, and t an image of one channel in a batch of one.
"""

import runpy
from pathlib import Path
from types import ModuleType

import xarrayops as xo
import xarrayops.numpy as np
from xarrayops._surface import ROLES

EXPRESSIONS = runpy.run_path(str(Path(__file__).parents[1] / "numpy" / "expressions.py"))
_GIVEN = """
apply_where(b, (x,), lambda a: a + 1, lambda a: a); arange(8); argpartition(x, 2); as_strided(x, (2, 2), (1, 1))
asarray([1.0, 2.0]); asarray(x); asarray([1.0, 2.0], like=x); astype(x, "float64"); at(x)[0].add(1.0)
atleast_nd(x, ndim=2); attention(t, t, t); average(x); avg_pool1d(x[None, None], 2); avg_pool2d(t, 2)
avg_pool3d(t[None], 1); bartlett(8, like=x); bincount(i, length=8); bitwise_and(i, i); bitwise_invert(i)
bitwise_left_shift(i, i); bitwise_or(i, i); bitwise_right_shift(i, i); bitwise_xor(i, i); blackman(8, like=x)
broadcast_arrays(x, x); broadcast_shapes((2,), (2,)); broadcast_to(x, (2, 8)); checkpoint(xo.sin)(x)
clip(x, 0.0, 3.0); compress(b, x); concat([x, x]); cond(x[0] > 0, lambda a: a, lambda a: -a, x); contiguous(m.T)
conv1d(x[None, None], x[None, None, :2]); conv2d(t, t[..., :2, :2]); conv3d(t[None], t[None]); convert(x, LIBRARY)
convolve(x, x); correlate(x, x); cov(m); delete(x, 1); dequantize(xo.quantize(m)); device(x); diag(v)
diff(x); digitize(x, x); einsum("i,i->", x, x); empty_like(x).shape; expand_dims(x, axis=0); eye(3, like=x)
fill_diagonal(m, 1.0); finfo(x.dtype).eps; full((2,), 1.0, like=x); full_like(x, 1.0); geomspace(1.0, 8.0, 4, like=x)
grad(xo.sum)(x); gradient(x); hamming(8, like=x); hanning(8, like=x); histogram(x, 4)[0]; iinfo(i.dtype).max
insert(x, 1, 2.0); interp(x, x, x); intersect1d(x, x); is_lazy(x); isdtype(x.dtype, "real floating"); isin(x, x)
kaiser(8, 1.0, like=x); kron(m, m); lexsort([x, x]); linalg.cross(v, v); linalg.lstsq(s, s)[0]; linalg.matmul(m, m.T)
linalg.matrix_power(s, 2); linalg.outer(v, v); linalg.solve(s, s); linalg.tensordot(m, m.T, axes=1)
linalg.vecdot(v, v); linspace(0.0, 1.0, 4, like=x); logical_and(b, b); logical_not(b); logical_or(b, b)
logical_xor(b, b); logspace(0.0, 1.0, 4, like=x); matmul(m, m.T); matrix_transpose(m); max_pool1d(x[None, None], 2)
max_pool2d(t, 2); max_pool3d(t[None], 1); meshgrid(x, x); moveaxis(m, 0, 1); no_grad()(xo.sin)(x); one_hot(i, 8)
ones((2,), like=x); pad(x, 1); partition(x, 2); percentile(x, 50.0); nanpercentile(x, 50.0); permute_dims(m, (1, 0))
on_host(list)([1.0]); polyval(x, x); qmatmul(m.T, xo.quantize(m)); quantile(x, 0.5)
nanquantile(x, 0.5); relayout(t, "nchw->nhwc"); repeat(x, 2); reshape(x, (2, 4)); roll(x, 1)
result_type(x, 1.0) == x.dtype
scan(lambda carry, a: (carry + a, carry), x[0], x)[0]; searchsorted(x, x); segment_max(x, i, 8)
segment_mean(x, i, 8); segment_min(x, i, 8); segment_sum(x, i, 8); setdiff1d(x, x); setxor1d(x, x); shard(x, None)
shares_memory(x, m); sliding_window_view(x, 3); split(x, 2)[1]; squeeze(x[None], axis=0); stack([x, x]); take(x, i)
take_along_axis(x, i); tensordot(m, m.T, axes=1); tile(x, (2,)); to_device(x, "cpu"); topk(x, 2)[0]; trapezoid(x)
tril(m); triu(m); union1d(x, x); unique(x); unstack(m); value_and_grad(xo.sum)(x)[1]; vmap(xo.sin)(x)
where(b, x, x); while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (i[0], x))
with_memory_format(t, "channels_last"); fft.fftfreq(8, like=x); fft.rfftfreq(8, like=x)
can_cast(x.dtype, x.dtype); corrcoef(m); nan_to_num(x); zeros((2,), like=x); allclose(x, x); array_equal(x, x)
array_namespace(x).sin(x); linalg.matrix_transpose(m); quantize(m).values; empty((2,), like=x).shape
"""
GIVEN = [call.strip() for line in _GIVEN.splitlines() for call in line.split(";") if call.strip()]
NOT_FOR_COMPILED_FUNCTIONS = {
    **dict.fromkeys(
        ("backend", "backends", "carried", "explain", "export", "jit", "operation"), "it makes or describes programs"
    ),
    **dict.fromkeys(("calibrate", "loss_scale", "set_default"), "it changes the state of the program"),
    **dict.fromkeys(("compute", "persist", "synchronize", "pin_memory"), "it is for values, which are not known"),
    **dict.fromkeys(("from_dlpack", "layout_of", "sharding_of"), "it reads memory, or the place of an array"),
}
PROGRAM = """
import json, os, signal, sys, warnings
import numpy
LIBRARY, variables, calls, IS_BROKEN = json.loads(sys.argv[1])
import xarrayops as xo, xarrayops.numpy as np
if LIBRARY == "torch":
    import torch, torch._dynamo
    make, reset = torch.asarray, torch._dynamo.reset
    compiled = lambda function: torch.compile(function, fullgraph=not IS_BROKEN, backend="eager")
else:
    import jax
    from jax import numpy as jnp
    jax.config.update("jax_enable_x64", True)
    make, reset, compiled = jnp.asarray, jax.clear_caches, jax.jit

def leaves(x):
    return [each for member in x for each in leaves(member)] if isinstance(x, (tuple, list)) else [x]

def difference(found, wanted):
    pairs = [[x.tolist() if hasattr(x, "tolist") else x for x in leaves(each)] for each in (found, wanted)]
    for x, y in zip(*pairs, strict=True):
        is_close = isinstance(x, (list, float, complex)) and numpy.allclose(x, y, rtol=1e-6, atol=1e-12, equal_nan=True)
        if x != y and not is_close:
            return f"{x} differs from {y}"
    return ""

def outcome(call):
    arrays = {
        name: make(real) if imag is None else make(real) + 1j * make(imag)
        for name, (real, imag) in variables.items()
    }
    scope = {"xo": xo, "np": np, "LIBRARY": LIBRARY}
    body = f"({call}, graph_break())[0]" if IS_BROKEN else call
    if IS_BROKEN:
        scope["graph_break"] = torch._dynamo.graph_break
    function = eval(f"lambda {', '.join(arrays)}: {body}", scope)
    error = None
    try:
        found = compiled(function)(*arrays.values())
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    try:
        wanted = function(*arrays.values())
    except Exception as raised:
        return "raises", f"{type(raised).__name__}: {raised}"
    if error is None:
        text = difference(found, wanted)
        return ("differs" if text else "right"), text
    reset()
    try:
        compiled(function)(*arrays.values())
    except Exception:
        return "never", error
    return "only later", error

sys.stdout.flush()
for call in calls:
    if os.fork() == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(60)
        warnings.simplefilter("ignore")
        print(json.dumps([call, *outcome(call)]), flush=True)
        os._exit(0)
    os.wait()
"""
VARIABLES = {
    "x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
    "i": [0, 1, 2, 3, 4, 5, 6, 7],
    "b": [True, False] * 4,
    "m": [[1.0, 2.0], [3.0, 5.0], [8.0, 13.0], [21.0, 34.0]],
    "s": [[2.0, 0.5], [0.5, 3.0]],
    "v": [1.0, 2.0, 4.0],
    "t": [[[[1.0, 2.0, 3.0, 4.0]] * 4]],
}
"""The real parts of the arrays of the calls of `xarrayops`."""


def functions(module, names=("", "linalg.", "fft.")):
    """The names of the functions of a module and of its extensions."""
    for prefix in names:
        contents = getattr(module, prefix[:-1]) if prefix else module
        for name in dir(contents):
            value = getattr(contents, name)
            if callable(value) and not isinstance(value, (type, str, ModuleType)) and not name.startswith("_"):
                yield f"{prefix}{name}"


def calls_of_xarrayops():
    """A call of each function: one of `GIVEN`, or else with vectors, or a matrix for linear algebra."""
    given = {call.partition("(")[0].strip() for call in GIVEN}
    for name in functions(xo):
        if name not in given and name not in NOT_FOR_COMPILED_FUNCTIONS:
            x = "s" if name.startswith("linalg.") else "m" if name.endswith(("n", "2")) and "fft." in name else "x"
            yield f"xo.{name}({', '.join(x for role in ROLES[name].values() if role in ('array', 'operand'))})"
    yield from (f"xo.{call}" for call in GIVEN)


def calls_of_numpy():
    """The first call of each of NumPy's names in the expressions that its tests compare."""
    expressions = [each for family in EXPRESSIONS["FAMILIES"].values() for each in family]
    for name in functions(np):
        found = next((each for each in expressions if f"np.{name}(" in each), None)
        if found is not None:
            yield found
