"""Errors of functions name the function and describe its arrays, in every library."""

import itertools
import os
import subprocess
import sys
from inspect import Parameter
from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.dispatch.arguments import roles, signature
from xarrayops._core.dispatch.errors import FAILURES, add_call
from xarrayops._surface import EXTRA, SURFACE

X = np.asarray([1.0, 2.0, 4.0])
M = np.ones((2, 3))
IDS = np.asarray([0, 2, 1])
BAD = {
    "bincount": ((M,), (X,), (IDS, X[:2])),
    "sliding_window_view": ((X, 9), (M, 2), (X, -1)),
    "pad": ((X, -1), (X, 1, "no"), (M, ((1, 2), (1, 2), (1, 2)))),
    "segment_sum": ((X, IDS[:2], 3), (X, X, 3)),
    "quantile": ((X, 2.0), (X, -0.5)),
    "diag": ((np.ones((2, 2, 2)),),),
    "fill_diagonal": ((X, 0.0),),
    "delete": ((X, 7),),
    "insert": ((X, 7, 0.0),),
    "compress": ((M > 0, M),),
    "cov": ((np.ones((2, 2, 2)),),),
    "digitize": ((X, M),),
    "histogram": ((X, 0),),
    "interp": ((X, M, X),),
    "gradient": ((X[:1],),),
    "convolve": ((M, X),),
    "polyval": ((M, X),),
    "partition": ((X, 9),),
    "topk": ((X, 9),),
    "lexsort": (((X, IDS[:2]),),),
    "one_hot": ((IDS, -1),),
    "linalg.lstsq": ((M, X), (X, X)),
    "linalg.cond": ((X,),),
    "add": ((X, X[:2]), (M, X[:2])),
    "broadcast_to": ((X, (2, 2)),),
    "concat": (((X, M),),),
    "expand_dims": ((X, 5),),
    "fft.fft": ((np.ones((), np.complex128),),),
    "linalg.inv": ((M,),),
    "linalg.solve": ((np.eye(3), np.ones((2, 2))),),
    "matmul": ((M, M), (X, X[:2])),
    "permute_dims": ((M, (0, 0)),),
    "reshape": ((X, (2, 2)),),
    "squeeze": ((M, 0),),
    "stack": (((X, X[:2]),),),
    "where": ((M > 0, X, X[:2]),),
}
BY_HAND = {"asarray", "broadcast_shapes", "can_cast", "finfo", "from_dlpack", "iinfo", "isdtype", "result_type"}
"""The functions of the tables that no generated function serves."""


@pytest.mark.parametrize("verb", BAD)
def test_the_function_is_named(library, verb):
    for args in BAD[verb]:
        given = [tuple(map(library.array, x)) if verb in ("concat", "lexsort", "stack") else x for x in args]
        given = [library.array(x) if isinstance(x, np.ndarray) else x for x in given]
        with pytest.raises((ValueError, TypeError, IndexError, RuntimeError, NotImplementedError)) as error:
            xo.compute(attrgetter(verb)(xo)(*given))
        assert str(error.value).startswith(f"xo.{verb}("), str(error.value)
        assert str(error.value).count("xo.") == 1


def _malformed(verb):
    """Calls of a function with arguments that do not fit: an axis, shapes, the number of axes, or the dtype."""
    parameters, arrays = signature(verb).parameters.values(), roles(verb)
    makers = [lambda i: np.ones(2 + i), lambda i: np.ones((2,) * (i + 1) + (3,)), lambda i: np.ones(())]
    for make in (*makers, lambda i: np.asarray(["a", "b"])):
        args, options = [], {}
        for i, (name, kind, default) in enumerate((p.name, p.kind, p.default) for p in parameters):
            several = [make(i), make(i + 1)]
            if kind is Parameter.VAR_POSITIONAL:
                args += several
            elif name in arrays:
                value = several if arrays[name] == "arrays" else make(i)
                args, options = (
                    (args, options | {name: value}) if kind is Parameter.KEYWORD_ONLY else ([*args, value], options)
                )
            elif default is Parameter.empty:
                args.append("?")
            elif name == "axis":
                options["axis"] = 99
        yield args, options


@pytest.mark.filterwarnings("ignore")  # of calls that do not raise
def test_every_function_names_the_call():
    unnamed, quiet = [], []
    for verb in {*SURFACE, *EXTRA} - BY_HAND:
        errors = []
        for args, options in _malformed(verb):
            try:
                attrgetter(verb)(xo)(*args, **options)
            except FAILURES as error:
                errors.append(str(error))
        quiet += [] if errors else [verb]
        unnamed += [text for text in errors if not text.startswith((f"xo.{verb}(", f"xo.{verb}: "))]
    assert not unnamed
    assert not quiet


def test_errors_of_tracers_stay_what_they_are():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones(3)
    calls = {
        "reshape": (ValueError, lambda n: xo.reshape(x, (n,))),
        "matmul": (TypeError, lambda n: xo.matmul(x, xo.stack([n, n]))),
        "sum": (jax.errors.ConcretizationTypeError, lambda n: xo.sum(x, axis=n)),
        "linspace": (jax.errors.ConcretizationTypeError, lambda n: xo.linspace(0, 1, n, backend="jax")),
        "zeros": (TypeError, lambda n: xo.zeros((n,), backend="jax")),
    }
    for verb, (kind, call) in calls.items():
        with pytest.raises(kind, match=rf"^xo\.{verb}\(") as error:
            jax.jit(call)(3)
        assert type(error.value) is kind


def test_arrays_are_described(library):
    x = library.array(M)
    with pytest.raises(ValueError, match=rf"^xo\.bincount\({library.name} float64 \(2, 3\)\): x must be a vector"):
        xo.bincount(x)
    with pytest.raises(
        (TypeError, ValueError), match=rf"^xo\.gradient\({library.name} float64 \(2, 3\), 1\.0, 2\.0, 3\.0\): "
    ):
        xo.gradient(x, 1.0, 2.0, 3.0)
    with pytest.raises(
        (TypeError, ValueError, RuntimeError), match=rf"^xo\.matmul\({library.name} float64 \(2, 3\), {library.name} "
    ):
        xo.matmul(x, x)
    with pytest.raises(ValueError, match=rf"^xo\.lexsort\(\({library.name} float64 \(2, 3\), {library.name} int64"):
        xo.lexsort((x, library.array(IDS)))


class Stubborn(ValueError, IndexError):
    """An error whose text does not follow its arguments."""

    def __str__(self):
        return "axis 9 is out of bounds"


def test_the_class_of_an_error_is_kept():
    for kind in (ValueError, TypeError, IndexError, OverflowError, np.linalg.LinAlgError, xo.Unsupported):
        error = kind("it is wrong")
        assert isinstance(error, FAILURES)
        add_call(error, "pad", X, None, 2)
        assert str(error) == "xo.pad(numpy float64 (3,), 2): it is wrong"
        add_call(error, "pad", X)
        assert str(error).count("xo.") == 1
    with pytest.raises(ValueError, match=r"^xo\.pad\(numpy float64 \(3,\)\): axis 9 is out of bounds$") as caught:
        add_call(Stubborn(), "pad", X)
    assert isinstance(caught.value.__cause__, Stubborn)


class Positional(ValueError):
    """An error whose arguments are not its text."""

    def __init__(self, first, second):
        super().__init__(first, second)

    def __str__(self):
        return f"{self.args[0]} and then {self.args[1]}"


def test_classes_that_take_no_text():
    with pytest.raises(ValueError, match=r"^xo\.pad\(numpy float64 \(3,\)\): a and then b$") as caught:
        add_call(Positional("a", "b"), "pad", X)
    assert isinstance(caught.value.__cause__, Positional)
    without_text = ArithmeticError()
    add_call(without_text, "pad", X)
    assert str(without_text) == "xo.pad(numpy float64 (3,)): ArithmeticError"
    with pytest.raises(xo.Unsupported, match=r"^xo\.pad\(numpy float64 \(3,\)\): NotImplementedError$"):
        add_call(NotImplementedError(), "pad", X)


def test_errors_of_arguments_of_dtypes_and_of_the_machine():
    with pytest.raises(xo.InvalidArguments, match=r"^xo\.pad\(numpy float64 \(3,\)\): sizes do not match$"):
        add_call(RuntimeError("sizes do not match"), "pad", X)
    for cls in (RuntimeError, NotImplementedError):
        with pytest.raises(xo.Unsupported, match=r"\"pad\" not implemented for 'Half'\. Instead: xo\.convert\(x, "):
            add_call(cls("\"pad\" not implemented for 'Half'."), "pad", X)
    for text in ("CUDA out of memory", "can't allocate memory", "INTERNAL ASSERT FAILED"):
        error = RuntimeError(text)
        add_call(error, "pad", X)
        assert str(error) == f"xo.pad(numpy float64 (3,)): {text}"


def test_errors_of_full_memory():
    with pytest.raises(MemoryError, match=r"^xo\.tile\(numpy float64 \(3,\)\): Unable to allocate"):
        xo.tile(X, 1 << 48)


def test_long_sequences_are_shown_in_part():
    with pytest.raises(ValueError, match=r"^xo\.stack\(\[(numpy float64 \(3,\), ){8}\.\.\.\]\): "):
        xo.stack([X] * 100 + [X[:2]])


def test_axes_of_numpy():
    with pytest.raises(
        np.exceptions.AxisError, match=r"^xo\.nansum\(numpy float64 \(2, 3\)\): axis 5 is out of bounds"
    ):
        xo.nansum(M, axis=5)


def test_warnings_and_exits_are_left_alone():
    assert not any(issubclass(kind, FAILURES) for kind in (RuntimeWarning, KeyboardInterrupt, StopIteration))


@pytest.mark.parametrize("kind", ["torch coo", "torch csr", "scipy", "jax"])
def test_sparse_arguments(kind):
    library, *form = kind.split()
    pytest.importorskip({"scipy": "scipy.sparse"}.get(library, library))
    dense = xo.convert(np.eye(3, dtype="float32"), {"scipy": "numpy"}.get(library, library))
    s = xo.sparse.from_dense(dense, *form)
    calls = {
        "xo.count_nonzero": lambda: xo.count_nonzero(s),
        "xo.lexsort": lambda: xo.lexsort([dense, s]),
        "xo.linalg.norm": lambda: xo.linalg.norm(s),
        "xo.mean": lambda: xo.mean(s),
        "xo.std": lambda: xo.std(s),
        "xo.median": lambda: xo.median(s),
        "xo.pad": lambda: xo.pad(s, 1),
        "xo.sort": lambda: xo.sort(s),
        "xo.sum": lambda: xo.sum(s),
    }
    if kind == "torch coo":
        del calls["xo.sum"]  # PyTorch's own function serves it
    own = {"xo.count_nonzero": "count", "xo.linalg.norm": "norm", "xo.mean": "mean", "xo.sort": "topk", "xo.sum": "sum"}
    for name, call in calls.items():
        with pytest.raises(xo.Unsupported) as error:
            call()
        first = f"xo.sparse.{own[name]}, or " if name in own else ""
        place = "keys[1]" if name == "xo.lexsort" else "x"
        assert str(error.value).startswith(f"{name}: argument {place} is a sparse ")
        assert str(error.value).endswith(f"Instead: {first}{name} of the dense array xo.sparse.to_dense({place})")


def test_compiled_functions_name_the_option():
    torch = pytest.importorskip("torch")
    x = torch.tensor([1, 2, 2])
    for whole, shape in itertools.product((True, False), ((3,), (1, 3))):
        torch.compiler.reset()
        compiled = torch.compile(lambda x: xo.bincount(x, length=4), fullgraph=whole, backend="eager")
        if len(shape) == 1:
            assert compiled(x).tolist() == [0, 1, 2, 0]
        else:
            with pytest.raises(Exception, match="x must be a vector"):
                compiled(x.reshape(shape))


TWO_DEVICES = """
import jax, jax.numpy as jnp, numpy as np, xarrayops as xo
x, y = jax.device_put(jnp.ones(3, "float32"), jax.devices()[1]), xo.convert(np.ones(3, "float32"), "jax")
for call in (lambda a, b: xo.add(a, b), lambda a, b: xo.concat([a, b])):
    for a, b in ((x, y), (y, x)):
        try:
            call(a, b)
        except ValueError as error:
            print(str(error).partition("Instead: ")[2])
try:
    xo.add(x, "device")
except TypeError as error:
    print("Instead" in str(error))
print(xo.add(y, xo.to_device(x, xo.device(y))))
"""


def test_arrays_on_two_devices():
    """What is on an accelerator, or on another device than the first CPU, stays there."""
    pytest.importorskip("jax", exc_type=ImportError)
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", TWO_DEVICES]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "xo.to_device(x2, xo.device(x1))",
        "xo.to_device(x1, xo.device(x2))",
        "xo.to_device(arrays[1], xo.device(arrays[0]))",
        "xo.to_device(arrays[0], xo.device(arrays[1]))",
        "False",
        "[2. 2. 2.]",
    ], done.stdout + done.stderr
