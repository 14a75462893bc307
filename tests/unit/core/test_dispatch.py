"""Dispatch by class: the entries in its tables, and errors for arguments that are not arrays."""

import array_api_strict as xps
import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops._core.dispatch import lookup as dispatch
from xarrayops._core.dispatch.arguments import Several
from xarrayops._core.dispatch.lookup import resolved
from xarrayops._core.modes import tables as modes

N = np.ones((2, 3))
S = xps.ones((2, 3))


def table(verb):
    return dispatch._tables[modes.PLAIN][verb]


class TestTables:
    """After the first call the table has the chosen function: the library's own if it conforms to the standard."""

    def test_one_array(self):
        xo.exp(N)
        assert table("exp")[np.ndarray] is np.exp

    def test_two_arrays(self):
        xo.add(N, N), xo.add(2, N), xo.add(N, 2.0)
        assert table("add")[np.ndarray][np.ndarray] is np.add
        assert table("add")[int][np.ndarray] is np.add
        assert table("add")[np.ndarray][float] is np.add

    def test_more_arrays(self):
        xo.where(N > 0, N, 0.0)
        assert (np.ndarray, np.ndarray, float) in table("where")
        xo.clip(N, 0, None)
        assert (np.ndarray, int, type(None)) in table("clip")

    def test_sequences_are_keyed_by_their_distinct_classes(self):
        xo.concat([N, N, N])
        xo.stack((np.float64(1), np.float64(2)))
        assert (Several, np.ndarray) in table("concat")
        assert (Several, np.float64) in table("stack")

    def test_every_subclass_gets_its_own_entry(self):
        class Mine(np.ndarray):
            pass

        xo.exp(N.view(Mine))
        assert table("exp")[Mine] is np.exp

    def test_a_failed_call_leaves_no_entry(self):
        for bad in ([1], "a", object(), 1.0, None):
            with pytest.raises(xo.BackendNotFound):
                xo.sinh(bad)
            with pytest.raises(xo.XArrayOpsError):
                xo.hypot(N, [1])
        assert {list, str, object, float, type(None)}.isdisjoint(table("sinh"))
        assert list not in table("hypot").get(np.ndarray, {})

    def test_resolve_returns_a_name(self):
        name = dispatch.resolve("cosh", np.ndarray)
        assert name.startswith("cosh:numpy:")
        assert getattr(resolved, name) is np.cosh
        assert dispatch.resolve("cosh", np.float64) != name, "other classes may need another function"

    def test_an_error_inside_the_operation_is_raised_unchanged(self, monkeypatch):
        """Only the look-up is inside ``try``: a KeyError of the library does not start a second look-up."""
        calls = []

        def broken(*args, **kwargs):
            calls.append(args)
            raise KeyError("inside")

        monkeypatch.setitem(table("tanh"), np.ndarray, broken)
        monkeypatch.setitem(table("subtract"), np.ndarray, {np.ndarray: broken})
        monkeypatch.setitem(table("concat"), (Several, np.ndarray), broken)
        monkeypatch.setitem(table("sum"), np.ndarray, broken)
        for call in (lambda: xo.tanh(N), lambda: xo.subtract(N, N), lambda: xo.concat([N]), lambda: xo.sum(N, axis=0)):
            with pytest.raises(KeyError, match="inside"):
                call()
        assert len(calls) == 4


class TestScalars:
    """Python scalars are exactly bool, int, float and complex. NumPy's scalars count too with other libraries."""

    @pytest.mark.parametrize("scalar", [True, 2, 2.0, 2j])
    def test_every_library_accepts_python_scalars(self, scalar):
        for x in (N, S if scalar is not True else S > 0):
            verb = xo.equal if scalar is True else xo.multiply
            assert type(verb(x, scalar)) is type(verb(scalar, x)) is type(x)

    @pytest.mark.parametrize("scalar", [np.float64(2), np.int64(2), np.bool_(True), np.complex128(2)])
    def test_numpy_scalars(self, scalar):
        assert type(xo.equal(N, scalar)) is np.ndarray
        x = S > 0 if isinstance(scalar, np.bool_) else S
        for result in (xo.equal(x, scalar), xo.equal(scalar, x), xo.where(S > 0, x, scalar)):
            assert type(result) is type(S)
        assert type(scalar) in table("equal")[type(S)]
        with pytest.raises(xo.BackendNotFound, match=r"argument x2 is .*, but it must be an array"):
            xo.matmul(S, scalar)

    def test_subclasses_of_python_scalars_are_refused(self):
        import enum

        class Mine(float):
            pass

        class Number(enum.IntEnum):
            ONE = 1

        for scalar in (Mine(1.0), Number.ONE):
            with pytest.raises(xo.BackendNotFound, match="argument x2 is a"):
                xo.add(N, scalar)

    def test_scalars_alone_do_not_determine_a_library(self):
        with pytest.raises(xo.BackendNotFound, match=r"xo\.add needs an array .* x1=1, x2=2\.0"):
            xo.add(1, 2.0)


class TestNoArray:
    """Lists, text, None and unknown objects as any argument raise a clear error; NumPy would convert them.

    Lists beside an array are accepted for the parameters of `xarrayops._core.dispatch.listed`.
    """

    @pytest.mark.parametrize("bad", ["text", b"bytes", object(), {1: 2}, range(3), None, np.float32])
    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("x", xo.sum),
            ("x", lambda bad: xo.reshape(bad, (1,))),
            ("x", lambda bad: xo.astype(bad, "float32")),
            ("x1", lambda bad: xo.add(bad, N)),
            ("x2", lambda bad: xo.add(N, bad)),
            ("x2", lambda bad: xo.matmul(N, bad)),
            ("condition", lambda bad: xo.where(bad, N, N)),
            ("x2", lambda bad: xo.where(N > 0, N, bad)),
            ("indices", lambda bad: xo.take(N, bad)),
            ("repeats", lambda bad: xo.repeat(N, bad)),
            ("x1", lambda bad: xo.searchsorted(bad, N)),
            ("x2", lambda bad: xo.searchsorted(N, bad)),
            ("arrays[1]", lambda bad: xo.concat([N, bad])),
            ("arrays[0]", lambda bad: xo.stack([bad])),
            ("arrays[1]", lambda bad: xo.broadcast_arrays(N, bad)),
            ("arrays[0]", lambda bad: xo.meshgrid(bad)),
            ("operands[1]", lambda bad: xo.einsum("ij,ij->", N, bad)),
            ("x", xo.device),
            ("x", xo.is_lazy),
        ],
    )
    def test_required_arrays(self, name, call, bad):
        self.require_refused(name, call, bad)

    @pytest.mark.parametrize("bad", [[1.0], [N, N]])
    @pytest.mark.parametrize(
        ("name", "call"),
        [
            ("x", xo.sum),
            ("x", lambda bad: xo.reshape(bad, (1,))),
            ("x1", lambda bad: xo.add(bad, N)),
            ("x2", lambda bad: xo.add(N, bad)),
            ("x2", lambda bad: xo.matmul(N, bad)),
            ("condition", lambda bad: xo.where(bad, N, N)),
            ("min", lambda bad: xo.clip(N, bad)),
            ("arrays[1]", lambda bad: xo.concat([N, bad])),
            ("x", xo.device),
        ],
    )
    def test_lists_of_data(self, name, call, bad):
        self.require_refused(name, call, bad)

    def require_refused(self, name, call, bad):
        with pytest.raises(xo.BackendNotFound) as error:
            call(bad)
        text = str(error.value)
        assert f"argument {name} is" in text or f"{name}=" in text
        assert type(bad).__name__ in text or repr(bad) in text

    @pytest.mark.parametrize("bad", [{1.0}, "text", object()])
    @pytest.mark.parametrize(
        "call",
        [
            lambda bad: xo.clip(N, bad),
            lambda bad: xo.clip(N, None, bad),
            lambda bad: xo.diff(N, prepend=bad),
            lambda bad: xo.diff(N, append=bad),
            lambda bad: xo.searchsorted(N[0], N[0], sorter=bad),
        ],
    )
    def test_optional_arrays(self, call, bad):
        with pytest.raises(xo.BackendNotFound, match="which is not an array"):
            call(bad)
        call(None)

    def test_the_message_says_what_to_do_instead(self):
        with pytest.raises(
            xo.BackendNotFound, match=r"xo\.sum: argument x is a list.*Instead: xo\.asarray\(x, like=y\)"
        ):
            xo.sum([1, 2])

    @pytest.mark.parametrize("call", [lambda: xo.concat([]), xo.meshgrid, xo.broadcast_arrays, xo.array_namespace])
    def test_no_arguments(self, call):
        with pytest.raises(xo.BackendNotFound, match=r"needs an array .*; no arrays were given\."):
            call()

    def test_verbs_outside_dispatch(self):
        for verb in (xo.compute, xo.synchronize, xo.backend, lambda x: xo.convert(x, "numpy"), xo.array_namespace):
            for bad in ([1], object(), {1}):
                with pytest.raises(xo.BackendNotFound, match=r"xo\.asarray"):
                    verb(bad)


class TestObjects:
    """Arrays of Python objects raise, except in ufuncs: these are NumPy's own, because a wrapper would cost time."""

    objects = np.asarray([3, 1], dtype=object)

    @pytest.mark.parametrize(
        "call",
        [
            xo.sum,
            xo.max,
            xo.any,
            xo.sort,
            xo.argsort,
            xo.unique_values,
            xo.mean,
            xo.zeros_like,
            xo.flip,
            xo.asarray,
            lambda x: xo.matmul(x, x),
            lambda x: xo.concat([x, x]),
            lambda x: xo.stack([np.ones(2), x]),
            lambda x: xo.reshape(x, (2, 1)),
            lambda x: xo.take(x, np.asarray([0])),
            lambda x: xo.astype(x, "float64"),
            lambda x: xo.asarray([x]),
            lambda x: xo.asarray([1, None]),
            lambda x: xo.convert(x, xps),
        ],
    )
    def test_refused(self, call):
        with pytest.raises((xo.Unsupported, xo.ExchangeError), match=r"objects.*astype"):
            call(self.objects)

    def test_ufuncs_accept_objects_as_in_numpy(self):
        assert xo.add(self.objects, 1).tolist() == [4, 2]


class TestFirstUse:
    """The first call with arrays of a library without an entry point; each call in a fresh interpreter."""

    @pytest.mark.parametrize(
        "call",
        [
            "xo.where(x > 0, x, 0.0)",
            "xo.where(x > 0, 1.0, x)",
            "xo.clip(x, 0, 2)",
            "xo.clip(x, max=x)",
            "xo.concat([x, x])",
            "xo.meshgrid(x)[0]",
            "xo.einsum('i,i->i', x, x)",
            "xo.add(1, x)",
            "xo.sum(x, dtype='float32', keepdims=True)",
            "xo.astype(x, 'float32')",
            "xo.zeros_like(x, dtype=xps.float32)",
            "xo.zeros(2, like=x)",
            "xo.asarray(x)",
            "xo.asarray([1.0], like=x)",
            "xo.at(x)[0].set(2.0)",
            "xo.compute(x)",
            "xo.to_device(x, xo.device(x))",
        ],
    )
    def test_the_result_has_the_same_class(self, run, call):
        code = f"import array_api_strict as xps, xarrayops as xo; x = xps.ones(2); r = [{call}, {call}]"
        code += "; assert all(type(y) is type(x) for y in r), r; print('same class')"
        assert run(code) == "same class"

    def test_arrays_of_several_libraries_raise(self, run):
        code = """
import array_api_strict as xps, numpy as np, xarrayops as xo
for call in (lambda: xo.where(xps.ones(2) > 0, np.ones(2), 0.0), lambda: xo.clip(np.ones(2), 0, xps.ones(2))):
    try:
        call()
    except xo.MixedBackends as error:
        print("mixed")
"""
        assert run(code).split() == ["mixed", "mixed"]


class TestBackends:
    """The functions that find the backend of arrays, for operations of several steps."""

    def test_backend_of_an_array(self):
        assert find.of(N) is xo.backend("numpy")
        with pytest.raises(xo.BackendNotFound, match="list is not an array"):
            find.of([1])
        with pytest.raises(xo.Unsupported, match="object"):
            find.of(np.asarray([None]))

    def test_backend_of_several_arguments(self):
        arrays = {"x": N, "n": 2.0, "mask": None}
        assert find.one_of("add", arrays) is xo.backend("numpy")
        assert find.one_of("add", {"x": S}) is xo.backend(xps)

    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"x": N, "y": S}, xo.MixedBackends, "arrays of several libraries: x: numpy.*; y: array_api_strict"),
            ({"x": N, "y": [1]}, xo.BackendNotFound, "argument y is a list"),
            ({"x": N, "y": np.asarray([None])}, xo.Unsupported, "argument y is a numpy.ndarray"),
            ({"x": 1.0}, xo.BackendNotFound, "needs an array"),
        ],
    )
    def test_arguments_without_a_common_backend(self, arguments, error, message):
        with pytest.raises(error, match=message):
            find.one_of("add", arguments)

    def test_refine_can_choose_another_backend_for_an_array(self, monkeypatch):
        own = xo.backend("numpy")
        monkeypatch.setattr(own, "refine", lambda x: "torch" if x.ndim == 7 else None)
        pytest.importorskip("torch")
        assert find.of(np.zeros((1,) * 7)) is xo.backend("torch")
        assert find.of(N) is own
