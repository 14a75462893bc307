"""Parts on a device are checked there, with one synchronisation; inspection does not wait for values."""

from collections import Counter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._generic.sparse import is_sound
from xarrayops._host.sparse import check
from xarrayops.plugin import Device
from xarrayops.plugin.sparse import FORMATS, Parts

NUMBERS = (-1, 0, 1, 2, 3, 5, 2**31 - 1, -(2**31))
CANONICAL = pytest.mark.parametrize("canonical", [False, True])
FORMATS_OF_JAX = pytest.mark.parametrize("format", ["coo", "csr"])
EACH_LIBRARY = pytest.mark.parametrize("library", ["numpy", "torch", "jax"])


def random_parts(random, format):
    """Parts of valid form: canonical parts in which up to two indices or pointers were replaced."""
    shape = tuple(random.integers(0, 7, 2).tolist())
    block = (1, max(1, shape[1] // 2)) if format == "bsr" else None
    if format == "bsr":
        shape = shape[0], shape[1] // block[1] * block[1]
    lines = shape[::-1] if format == "csc" else (shape[0], shape[1] // (block or (1, 1))[1])
    index = random.choice(["int32", "int64"])
    rows, columns = (x.astype(index) for x in np.nonzero(random.random(lines) < random.choice([0.1, 0.4, 0.9])))
    data = np.ones((len(rows), *(block or ())))
    if format == "coo":
        return with_wrong_numbers(random, Parts("coo", shape, data, coords=np.stack((rows, columns))), "coords")
    pointers = np.searchsorted(rows, np.arange(lines[0] + 1)).astype(index)
    return with_wrong_numbers(random, Parts(format, shape, data, columns, pointers, block=block), "indptr", "indices")


def with_wrong_numbers(random, p, *names):
    for _ in range(random.choice([0, 1, 1, 2])):
        x = p.arrays[random.choice(names)]
        if x.size:
            x.flat[random.integers(x.size)] = random.choice(NUMBERS)
    return p


def padded(random, p):
    """The parts with padding: entries out of the extents or after the last row, at the end or anywhere."""
    count = int(random.integers(0, 3))
    data = np.concatenate([p.data, np.zeros(count)])
    if p.format == "csr":
        more = random.choice(NUMBERS, count).astype(p.indices.dtype)
        return p._replace(data=data, indices=np.concatenate([p.indices, more]))
    beyond = np.full((2, count), max(p.shape), p.coords.dtype)
    at = len(p.data) if random.random() < 0.7 else int(random.integers(len(p.data) + 1))
    coords = np.concatenate([p.coords[:, :at], beyond, p.coords[:, at:]], axis=1)
    return p._replace(data=data, coords=coords)


def native(p, library):
    made = lambda x: xo.convert(x, library, copy=True)
    return p._replace(**{name: made(x) for name, x in p.arrays.items() if name != "data"})


@CANONICAL
@EACH_LIBRARY
def test_is_sound_equals_the_check_on_the_host(library, canonical):
    pytest.importorskip(library)
    xp, random, seen = xo.backend(library).namespace, np.random.default_rng(0), Counter()
    for k in range(40 if library == "jax" else 600):
        p = random_parts(random, FORMATS[k % 4])
        if library == "jax":  # its 64-bit dtypes may be disabled
            p = p.map(lambda x: x.astype("int32"), values=False)
        want = check.fault(p, canonical=canonical) is None
        assert bool(is_sound(xp, native(p, library), canonical=canonical)) == want, p
        if p.format == "coo" and library == "numpy":
            assert bool(is_sound(xp, p._replace(coords=tuple(p.coords)), canonical=canonical)) == want, p
        seen[want] += 1
    assert min(seen.values()) > 10


@CANONICAL
def test_padding_is_valid(canonical):
    unpadded = pytest.importorskip("xarrayops_backends.jax._sparse").unpadded
    random, seen = np.random.default_rng(1), Counter()
    for k in range(1000):
        p = padded(random, random_parts(random, ("coo", "csr")[k % 2]))
        want = check.fault(unpadded(p), canonical=canonical) is None
        got = bool(is_sound(np, p, canonical=canonical, pads=True))
        assert want or not got, p
        seen[want, got] += 1
    assert seen[True, False] < seen[True, True] / 4, (
        "too many valid parts are rejected, so that the host has to check them"
    )


@pytest.fixture
def on_device(monkeypatch):
    """Makes a library report its arrays as on a GPU, and counts the calls that transfer values to the host."""

    def report_as_gpu(library, methods):
        sparse, calls = xo.backend(library).sparse, Counter()
        monkeypatch.setattr(sparse.backend, "device_of", lambda x: Device("cuda", "cuda:0", None))
        to_numpy = sparse.backend.functions["to_numpy"]
        copied = lambda x: calls.update(["to_numpy"]) or to_numpy(x)
        monkeypatch.setitem(sparse.backend.functions, "to_numpy", copied)
        for owner, name in methods:
            own = getattr(owner, name)
            counted = lambda x, *args, own=own, name=name: calls.update([name]) or own(x, *args)
            monkeypatch.setattr(owner, name, counted)
        return calls

    return report_as_gpu


READS = {
    "torch": ("item", "tolist", "cpu", "numpy", "__bool__", "__int__", "__index__", "__float__", "__array__"),
    "jax": ("item", "tolist", "__bool__", "__int__", "__index__", "__float__", "__array__", "block_until_ready"),
}


@CANONICAL
@pytest.mark.parametrize("format", ["coo", "csr"])
@pytest.mark.parametrize("library", READS)
def test_valid_parts_need_one_wait(library, format, canonical, on_device):
    pytest.importorskip(library)
    x = np.asarray([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, -4, 0]], np.float32)
    s = xo.sparse.from_dense(xo.convert(x, library), format)
    p = xo.sparse.parts(s)
    wrong = p.map(lambda each: each + 1, values=False)
    calls = on_device(library, [(type(p.data), name) for name in READS[library]])
    xo.sparse.validate(s, canonical=canonical)
    assert calls == {"__bool__": 1}
    xo.sparse.from_parts(format, *p.arrays.values(), shape=p.shape, canonicalize=False)
    assert calls == {"__bool__": 2}
    with pytest.raises(xo.InvalidSparse, match=r"indptr\[0\] is 1|coords\[1, 1\] is 4"):
        xo.sparse.from_parts(format, *wrong.arrays.values(), shape=p.shape)
    assert calls["to_numpy"], "the first invalid item is searched only if the check fails"


def test_indices_are_checked_if_values_are_traced(on_device):
    jax = pytest.importorskip("jax")
    indptr, indices, one = jax.numpy.asarray([0, 1, 2]), jax.numpy.asarray([1, 0]), jax.numpy.ones(2)
    on_device("jax", [])

    def made(values, columns):
        return xo.sparse.from_parts("csr", indptr, indices, values, shape=(2, columns)).data

    assert jax.jit(made, static_argnums=1)(one, 2).tolist() == [1, 1]
    with pytest.raises(xo.InvalidSparse, match=r"indices\[0\], in row 0, is 1"):
        jax.jit(made, static_argnums=1)(one, 1)


PARTS = np.asarray([0, 1, 1], "int32"), np.zeros(1, "int32"), np.ones(1, "float32")


@EACH_LIBRARY
def test_messages_for_invalid_forms(library, on_device):
    pytest.importorskip(library)
    indptr, indices, data = (xo.convert(np.asarray(x), library) for x in PARTS)
    if library != "numpy":
        on_device(library, [])
    for arrays, shape, message in (
        ((indptr[:2], indices, data), (2, 2), r"indptr has 2 items, not 2 \+ 1 = 3"),
        ((indptr, indices[:0], data), (2, 2), "indices has 0 entries, but data has 1"),
        ((indptr, xo.astype(indices, "int16"), data), (2, 2), "indices has dtype int16"),
        ((indptr, indices, data), (2, 2, 2), "shape must have 2 integers, but it has 3"),
    ):
        with pytest.raises(xo.InvalidSparse, match=message):
            xo.sparse.from_parts("csr", *arrays, shape=shape)


class TestPendingValues:
    """JAX computes asynchronously: calls that need only devices or indices must not wait for values."""

    @staticmethod
    def assert_does_not_wait(call, format, most=12):
        """Check that the call returns before the values are ready, for a computation that is long enough.

        A call that does not wait may be slow, so that the shorter computations end before it; ``most`` limits them.
        """
        jax = pytest.importorskip("jax")
        jnp = jax.numpy
        step = lambda _, x: jnp.sin(x @ x)
        long = jax.jit(lambda x, steps: jax.lax.fori_loop(0, steps, step, x))
        x, s = jnp.ones((300, 300)), xo.sparse.from_dense(jnp.eye(300), format)
        call(type(s)((s.data, *indices(s)), shape=s.shape), x)  # the first call creates cached objects
        for steps in (1 << k for k in range(6, most)):
            values = long(x, steps)
            pending = type(s)((values[0], *indices(s)), shape=s.shape)
            call(pending, values)
            if not pending.data.is_ready():
                jax.block_until_ready(pending.data)
                return
        raise AssertionError("the call waits for values")

    @FORMATS_OF_JAX
    @pytest.mark.parametrize("verb", ["matmul", "to_dense", "multiply", "sum", "sddmm", "from_dense", "convert"])
    def test_explain(self, verb, format):
        other = "csr" if format == "coo" else "coo"
        call = {
            "matmul": lambda s, x: xo.explain("matmul", s, x),
            "to_dense": lambda s, x: xo.explain("sparse.to_dense", s),
            "multiply": lambda s, x: xo.explain("sparse.multiply", s, x),
            "sum": lambda s, x: xo.explain("sparse.sum", s),
            "sddmm": lambda s, x: xo.explain("sparse.sddmm", x, x, s),
            "from_dense": lambda s, x: xo.explain("sparse.from_dense", x),
            "convert": lambda s, x: xo.explain("sparse.convert", s, other),
        }[verb]
        self.assert_does_not_wait(call, format)

    @FORMATS_OF_JAX
    def test_inspection_and_checks_of_indices(self, format):
        def call(s, x):
            assert not xo.is_lazy(s)
            assert xo.device(s) == s.data.device
            xo.sparse.validate(s, canonical=True)
            p = xo.sparse.parts(s)
            assert xo.sparse.from_parts(p.format, *p.arrays.values(), shape=p.shape).data is s.data

        self.assert_does_not_wait(call, format)

    def test_a_call_that_waits_is_detected(self):
        with pytest.raises(AssertionError, match="waits for values"):
            self.assert_does_not_wait(lambda s, x: xo.sparse.to_dense(s), "csr", most=8)


def indices(s):
    return (s.indices, s.indptr) if hasattr(s, "indptr") else (s.indices,)
