"""Shared by the tests of rewriting: small programs that run before and after, on several libraries."""

import inspect
import warnings
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import numpy
import pytest

import xarrayops as xo
from xarrayops.port import rewrite
from xarrayops.port.rewriting.edits import MARK

LIBRARIES = ("numpy", "torch", "jax")
TOLERANCE = 1e-12


@contextmanager
def with_64_bits(library):
    """NumPy's dtypes on the other libraries."""
    if library == "torch":
        torch = pytest.importorskip("torch")
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            yield
        finally:
            torch.set_default_dtype(before)
    elif library == "jax":
        jax = pytest.importorskip("jax")
        with jax.enable_x64(True):
            yield
    else:
        yield


def outcome(text, args, library, returned=None):
    """The results of a program on a library, and its arguments afterwards, as NumPy's arrays.

    The library is that of the arguments; only a program without arrays follows `xarrayops.use`. With ``returned`` the
    function returns the arguments that it writes: they stand in the place of those that were given.
    """
    has_arrays = any(isinstance(each, (numpy.ndarray, list)) for each in args)
    namespace = {"__name__": "program"}
    numpy.random.seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with with_64_bits(library), nullcontext() if has_arrays else xo.use(library):
            exec(compile(text, "program.py", "exec"), namespace)
            given = [_moved(each, library) for each in args]
            result = namespace["f"](*given)
            if returned is not None:
                result, given = unpacked(result, given, list(inspect.signature(namespace["f"]).parameters), returned)
            return SimpleNamespace(result=_leaves(result), given=_leaves(given), libraries=_libraries(result))


def unpacked(result, given, names, returned):
    """What the function returned before, and the arguments with those that it returns now."""
    has_value = returned.form == "value"
    parts = list(result) if has_value or len(returned.written) > 1 else [result]
    assert len(parts) == len(returned.written) + has_value
    arrays = dict(zip(returned.written, parts[has_value:], strict=True))
    given = [arrays.get(name, value) for name, value in zip(names, given, strict=True)]
    return result if returned.form == "same" else parts[0] if has_value else None, given


def _moved(value, library):
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(each, library) for each in value)
    return xo.convert(value.copy(), library, copy=True) if isinstance(value, numpy.ndarray) else value


def _leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in _leaves(each)]
    return [numpy.asarray(xo.convert(value, "numpy")).copy() if hasattr(value, "dtype") else value]


def _libraries(value):
    if isinstance(value, (list, tuple)):
        return {name for each in value for name in _libraries(each)}
    return {xo.backend(value).name} if hasattr(value, "shape") and value.shape != () else set()


def differences(wanted, found, exact):
    """The differences between two lists of values."""
    if len(wanted) != len(found):
        return [f"{len(found)} values, not {len(wanted)}"]
    differing = []
    for x, y in zip(wanted, found, strict=True):
        if not hasattr(x, "dtype"):
            if type(x) in (int, float, complex, bool):
                y = y.item() if hasattr(y, "item") else y
                same = x == y if exact else numpy.isclose(x, y, rtol=TOLERANCE, equal_nan=True)
            else:
                same = x == y
        elif not hasattr(y, "dtype") or x.shape != y.shape:
            same = x.shape == () and numpy.isclose(x, y, rtol=TOLERANCE, equal_nan=True)
        else:
            tolerance = 1e-5 if x.dtype.name in ("float32", "complex64") else TOLERANCE
            same = x.dtype == y.dtype and numpy.allclose(x, y, rtol=tolerance, atol=tolerance, equal_nan=True)
        if not same:
            differing.append(f"{y!r} {getattr(y, 'dtype', '')}, not {x!r} {getattr(x, 'dtype', '')}")
    return differing


def check(path, source, args, todo=None, runs=LIBRARIES, has=(), lacks=(), **options):
    """Rewrite a program with a function ``f`` and run it before and after; ``options`` are those of `rewrite`.

    ``runs`` are the libraries on which the rewritten program does the same as the original. ``todo`` is what a note
    must say; without it there must be no note. ``has`` is what the new text must contain, ``lacks`` what it must not.
    """
    source = source.lstrip("\n")
    path.write_text(source)
    new = rewrite(path, **options)
    assert path.read_text() == source, "the file changed"
    path.write_text(new.text)
    assert rewrite(path, **options).text == new.text, "another rewrite changes the text"
    for part in (has,) if isinstance(has, str) else has:
        assert part in new.text, new.text
    for part in (lacks,) if isinstance(lacks, str) else lacks:
        assert part not in new.text, new.text
    comments = [line for line in new.text.splitlines() if line.strip().startswith(f"# {MARK}")]
    assert len(comments) == len(new.todos), new.text
    problems = " | ".join(each.problem for each in new.todos)
    assert (todo in problems) if todo else not problems, new.text
    original = outcome(source, args, "numpy")
    for library in LIBRARIES:
        returned = next((each for each in new.returned if each.name == "f"), None)
        found = differing(original, new.text, args, library, returned)
        if library in runs:
            assert not found, f"{library}: {found}\n{new.text}"
        else:
            assert found, f"{library} runs, which the case excludes\n{new.text}"
            assert problems, f"{library}: {found}, without a note\n{new.text}"


def differing(original, text, args, library, returned=None):
    """The differences between a run of the original and a run of the new text on a library."""
    try:
        port = outcome(text, args, library, returned)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    found = differences(original.result, port.result, library == "numpy")
    found += differences(original.given, port.given, library == "numpy")
    return found + ([] if port.libraries <= {library} else [f"results of {port.libraries}"])


@pytest.fixture
def checked(tmp_path):
    """Check a program; see `check`."""
    return lambda source, *args, **expected: check(tmp_path / "program.py", source, args, **expected)


@pytest.fixture
def never_silent(tmp_path):
    """Check that a program does the same after a rewrite on NumPy, and on JAX the same or, with a note, an error."""

    def check(source, **options):
        path = tmp_path / "program.py"
        path.write_text(source)
        new = rewrite(path, **options)
        path.write_text(new.text)
        assert rewrite(path, **options).text == new.text, "another rewrite changes the text"
        original = outcome(source, (1.5,), "numpy")
        assert not differing(original, new.text, (1.5,), "numpy"), new.text
        port = port_on_jax(new.text)
        if port is None:
            assert new.todos, new.text
        else:
            assert not differences(original.result, port.result, exact=False), new.text

    return check


def port_on_jax(text):
    """The outcome on JAX; None if it raises."""
    try:
        return outcome(text, (1.5,), "jax")
    except Exception:
        return None
