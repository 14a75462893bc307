"""Arguments that libraries treat in different ways have one answer: NumPy's, or one clear error."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._surface import ROLES

U8 = np.asarray([0, 100, 255], dtype="uint8")
U64 = np.asarray([3, 2**63, 2**64 - 1], dtype="uint64")


def check(library, function, *hosts, dtype=None):
    """The function of the library's arrays has the values of the function of NumPy's."""
    want = function(np, *hosts)
    got = library.host(function(xo, *map(library.array, hosts)))
    np.testing.assert_array_equal(got, np.asarray(want, dtype=got.dtype))
    assert got.dtype.kind == np.asarray(want).dtype.kind
    assert dtype is None or got.dtype == dtype


def default_floating(library):
    return library.host(xo.zeros(0, like=library.array([1]))).dtype


class TestClip:
    @pytest.mark.parametrize(
        "bounds", [(0.5, 3.7), (None, 2.5), (2, np.inf), (np.nan, None), (0.5, 300), (1.5, None), (-0.5, 2)]
    )
    def test_integers_by_fractions_are_floating(self, library, bounds):
        for host in (np.asarray([0, 1, 5]), U8):
            check(library, lambda xp, x: xp.clip(x, *bounds), host, dtype=default_floating(library))

    def test_integers_by_an_array_of_fractions(self, library):
        check(library, lambda xp, x, low: xp.clip(x, low, None), U8, np.asarray([0.5, 1.5, 300.5]))
        check(library, lambda xp, x, high: xp.clip(x, 1, high), U8, np.asarray([0.5, 1.5, 300.5]))

    @pytest.mark.parametrize("bounds", [(0, 300), (-1000, None), (None, 2**70), (-(2**70), 2**64), (300, None)])
    def test_integers_beyond_the_dtype(self, library, bounds):
        low, high = bounds
        want = U8 if low != 300 else np.asarray([255] * 3)
        got = library.host(xo.clip(library.array(U8), low, high))
        np.testing.assert_array_equal(got, want)
        assert got.dtype == np.uint8

    def test_integers_by_wider_integers_keep_their_dtype(self, library):
        got = library.host(xo.clip(library.array(U8), None, library.array(np.asarray([300, -5, 2]))))
        np.testing.assert_array_equal(got, [0, 0, 2])
        assert got.dtype == np.uint8

    def test_numbers_by_huge_integers(self, library):
        check(library, lambda xp, x: xp.clip(x, -(2**70), 2**70), np.asarray([1.5, 2.5]))


class TestWhere:
    @pytest.mark.parametrize("numbers", [(1.0, 0.0), (1, 0), (True, False), (1j, False), (1, 0.5), (True, 2)])
    def test_numbers_alone_have_the_default_dtype(self, library, numbers):
        mask = library.array(np.asarray([True, False]))
        got = library.host(xo.where(mask, *numbers))
        np.testing.assert_array_equal(got, numbers)
        kind = max(map(type, numbers), key=(bool, int, float, complex).index)
        want = {bool: "bool", int: "int64", float: default_floating(library), complex: got.dtype}[kind]
        assert got.dtype == want
        assert got.dtype.kind == np.dtype(kind).kind
        strong = xo.add(xo.where(mask, *numbers), library.array(np.asarray([1, 1], dtype="int8")))
        assert library.host(strong).dtype == np.result_type(got.dtype, "int8")  # not weakly typed

    def test_the_default_dtype_of_a_mode_is_used(self, library):
        mask = library.array(np.asarray([True, False]))
        with xo.use(dtype="float16"):
            assert library.host(xo.where(mask, 1.0, 0)).dtype == "float16"
            assert library.host(xo.where(mask, 1, 0)).dtype == "int64"


def outcome(function):
    """The values, or the class of the error."""
    try:
        return function()
    except (ArithmeticError, ValueError, TypeError, IndexError) as error:
        kinds = (OverflowError, ValueError, IndexError, TypeError)
        return next(kind for kind in kinds if isinstance(error, kind))


def agree(library, function, *hosts):
    """Assert that the function has the same values or the same class of error as with NumPy arrays."""
    with np.errstate(all="ignore"):
        want = outcome(lambda: function(*hosts))
    got = outcome(lambda: library.host(function(*map(library.array, hosts))))
    if isinstance(want, type) or isinstance(got, type):
        assert got is want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-5)
        assert got.dtype.kind == np.asarray(want).dtype.kind


def accepts(function, host):
    """Whether NumPy's function accepts a small number with the array."""
    with np.errstate(all="ignore"):
        return not isinstance(outcome(lambda: function(host, 1)), type)


OPERANDS = [verb for verb, roles in ROLES.items() if list(roles.values()) == ["operand", "operand"]]
NUMBERS = (300, -1, -(2**40), 2**63, 2**64 - 1, 2**70, -(2**70))


class TestIntegersBeyondTheDtype:
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    @pytest.mark.parametrize("verb", OPERANDS)
    def test_binary_functions(self, library, verb):
        floating = np.asarray([0.5, 2.0])
        wide = U64 if verb != "pow" else U64[[0, 2]]  # in JAX, 300 to the power of 2**63 is 1 modulo 2**64
        integers = (np.asarray([1, 100, 255], dtype="uint8"), np.asarray([-3, 2, 7]), wide)
        for host in (floating,) if verb == "nextafter" else (floating, *integers):
            for function in (lambda x, n: getattr(xo, verb)(x, n), lambda x, n: getattr(xo, verb)(n, x)):
                if accepts(function, host):
                    for number in NUMBERS:
                        agree(library, lambda x, f=function, n=number: f(x, n), host)

    @pytest.mark.parametrize("verb", [verb for verb in OPERANDS if verb.startswith("logical")])
    def test_logical_functions_use_the_truth_value(self, library, verb):
        mask, function = np.asarray([True, False]), getattr(xo, verb)
        want = function(mask, True)
        for host in (mask, np.asarray([3, 0], dtype="int8"), np.asarray([0.5, 0])):
            for number in NUMBERS:
                np.testing.assert_array_equal(library.host(function(library.array(host), number)), want)
                np.testing.assert_array_equal(library.host(function(number, library.array(host))), want)

    @pytest.mark.parametrize("number", NUMBERS)
    def test_other_functions_of_arrays(self, library, number):
        mask = np.asarray([True, False, True])
        for host in (U8, np.asarray([-3, 0, 7]), U64, np.asarray([0.5, 2.0, 3.0])):
            agree(library, lambda m, x: xo.where(m, x, number), mask, host)
            agree(library, lambda m, x: xo.where(m, number, x), mask, host)
            agree(library, lambda m: xo.where(m, number, 1), mask)
            agree(library, lambda x: xo.clip(x, number, None), host)
            agree(library, lambda x: xo.clip(x, None, number), host)
            for side in ("left", "right"):
                agree(library, lambda x, s=side: xo.searchsorted(x, number, side=s), host)
            agree(library, lambda x: xo.full_like(x, number), host)
            agree(library, lambda x: xo.full_like(x, number, dtype="int16"), host)

    @pytest.mark.parametrize("number", NUMBERS)
    def test_creation(self, library, number):
        x = np.asarray([1])
        for dtype in (None, "uint8", "int16", "uint64", "float64"):
            agree(library, lambda x, d=dtype: xo.full(2, number, dtype=d, like=x), x)
            agree(library, lambda x, d=dtype: xo.asarray(number, dtype=d, like=x), x)
            agree(library, lambda x, d=dtype: xo.asarray([[number], [1]], dtype=d, like=x), x)
            if dtype != "float64" or abs(number) < 2**53:
                agree(library, lambda x, d=dtype: xo.arange(number, number + 2, dtype=d, like=x), x)
            if dtype != "uint64" or number < 2**63:  # PyTorch and JAX do not convert 2**63 to uint64
                agree(library, lambda x, d=dtype: xo.linspace(0, number, 3, dtype=d, like=x), x)

    @pytest.mark.filterwarnings("ignore:overflow encountered")
    def test_lists_of_several_kinds_of_numbers(self, library):
        x = np.asarray([1])
        for values in ([0.5, 2**70], [2**70, 0.5], [1, 2**70, 1.5], [[1, 2], [2**70, 0.5]], [2**70, 1j], [1, 2**70]):
            for dtype in (None, "float64", "uint8"):
                agree(library, lambda x, v=values, d=dtype: xo.asarray(v, dtype=d, like=x), x)
        for values in ([300.5], [[300.5], [1]], [[-1.5]], [1, float("nan")], [float("inf")], [3.5], [True, 300]):
            agree(library, lambda x, v=values: xo.asarray(v, dtype="uint8", like=x), x)

    @pytest.mark.filterwarnings("ignore:overflow encountered")
    @pytest.mark.parametrize(("number", "dtype"), [(10**6, "float16"), (-1e6, "float16"), (1e300, "float32")])
    def test_floating_numbers_beyond_the_dtype_are_infinite(self, library, number, dtype):
        x = library.array(np.ones(3, dtype=dtype))
        for result in (
            xo.full(3, number, like=x),
            xo.full(3, number, dtype=dtype, like=x),
            xo.full_like(x, number),
            xo.asarray([number, 1], dtype=dtype, like=x),
            xo.asarray(number, dtype=dtype, like=x),
        ):
            if np.issubdtype(library.host(result).dtype, np.floating):
                assert abs(library.host(result).flat[0]) == np.inf

    def test_messages_name_the_function(self, library):
        x = library.array(U8)
        for name, call in {
            "diff": lambda: xo.diff(x, prepend=300),
            "add": lambda: xo.add(x, 300),
            "full_like": lambda: xo.full_like(x, 300),
            "asarray": lambda: xo.asarray([300], dtype="uint8", like=x),
        }.items():
            if library.name != "numpy" or name != "add":  # NumPy itself raises
                with pytest.raises(OverflowError, match=rf"xo\.{name}: the Python integer 300 does not fit into uint8"):
                    call()

    def test_where_never_wraps(self, library):
        with pytest.raises(OverflowError, match="300 does not fit into uint8"):
            xo.where(library.array(np.asarray([True] * 3)), library.array(U8), 300)

    def test_the_stop_of_arange_need_not_fit(self, library):
        x = library.array([1])
        assert library.host(xo.arange(256, dtype="uint8", like=x))[-1] == 255
        assert library.host(xo.arange(0, 300, 100, dtype="uint8", like=x)).tolist() == [0, 100, 200]
        assert library.host(xo.arange(3, -1, -1, dtype="uint8", like=x)).tolist() == [3, 2, 1, 0]
        assert library.host(xo.arange(300, 0, dtype="uint8", like=x)).tolist() == []

    def test_negative_powers_of_integers(self, library):
        with pytest.raises(ValueError, match=r"Integers to negative integer powers|negative power"):
            xo.pow(library.array([1, 2]), -1)
        np.testing.assert_array_equal(library.host(xo.pow(library.array([1.0, 2.0]), -1)), [1, 0.5])


SCALARS = {
    float: (np.float64, np.float32, np.float16, np.longdouble),
    int: (np.int64, np.uint8, np.longlong),
    bool: (np.bool_,),
    complex: (np.complex64, np.complex128, np.clongdouble),
}


class TestNumPyScalars:
    """With arrays of another library, NumPy's scalars count as Python numbers."""

    @pytest.mark.parametrize("dtype", ["float32", "int8"])
    @pytest.mark.parametrize("number", [3.0, 2, True, 1j])
    def test_they_are_weakly_typed_operands(self, library, number, dtype):
        x, mask = library.array(np.asarray([1, 2], dtype=dtype)), library.array(np.asarray([True, False]))
        for cls in SCALARS[type(number)] if library.name != "numpy" else ():
            for function in (
                lambda n: xo.multiply(x, n),
                lambda n: xo.add(n, x),
                lambda n: xo.where(mask, n, x),
                lambda n: xo.where(mask, n, n),
            ):
                want, got = library.host(function(number)), library.host(function(cls(number)))
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)

    def test_other_functions(self, library):
        x = library.array(np.asarray([1.0, 2.0, 3.0], dtype="float32"))
        clipped = xo.clip(x, np.float64(1.5), np.int64(2))
        np.testing.assert_array_equal(library.host(clipped), [1.5, 2, 2])
        np.testing.assert_array_equal(library.host(xo.searchsorted(x, np.float64(2.5))), 2)
        np.testing.assert_array_equal(library.host(xo.isin(x, np.int64(2))), [False, True, False])
        np.testing.assert_array_equal(library.host(xo.repeat(x, np.int64(2))), [1, 1, 2, 2, 3, 3])
        np.testing.assert_array_equal(library.host(xo.full_like(x, np.float32(2))), [2, 2, 2])
        assert library.name == "numpy" or library.host(clipped).dtype == "float32"

    def test_asarray(self, library):
        x = library.array(np.ones(2, dtype="float32"))
        for value in (np.float64(2), [np.float64(2), 1], [[np.int8(2)], [0.5]]):
            result = xo.asarray(value, like=x)
            assert type(result) is type(x)
            assert library.name == "numpy" or library.host(result).dtype == "float32"
        if library.name != "numpy":
            assert type(xo.asarray([x[0], np.float64(2)])) is type(x)
            assert library.host(xo.asarray([np.int8(2)], backend=library.name)).dtype == "int64"
        assert type(xo.asarray(np.float64(2))) is type(xo.asarray([np.float64(2)])) is np.ndarray

    def test_they_do_not_determine_a_namespace(self, library):
        x = library.array([1.0])
        assert xo.array_namespace(x, np.float64(2)) is xo.array_namespace(x)

    def test_a_0d_array_is_an_array(self, library):
        if library.name != "numpy":
            with pytest.raises(xo.MixedBackends):
                xo.add(library.array([1.0]), np.asarray(3.0))

    def test_an_array_is_still_required(self, library):
        if library.name != "numpy":
            for call in (
                lambda: xo.matmul(library.array([1.0]), np.float64(3)),
                lambda: xo.take(library.array([1.0]), np.int64(0)),
            ):
                with pytest.raises(xo.BackendNotFound, match=r"must be an array. Instead: xo\.asarray\(\d"):
                    call()
            with pytest.raises(xo.MixedBackends):
                xo.add(library.array([1.0]), np.timedelta64(3))

    def test_arrays_of_two_libraries_are_still_mixed(self, library):
        if library.name != "numpy":
            with pytest.raises(xo.MixedBackends):
                xo.where(library.array([True]), np.float64(3), np.ones(1))


PAIRS = np.asarray([[3, 1], [2, 0]])
COMPLEX = np.asarray([[3 + 1j, 1, 3 - 1j, 1], [1, complex(np.nan, 1), 5, np.nan]])
F4 = np.ones((2, 3), dtype="float32")


class TestShapesAndOrder:
    @pytest.mark.parametrize("shape", [-1, 4, 5, (-1, -1), (3, -1), (2, 2, 1)])
    def test_reshape(self, library, shape):
        agree(library, lambda x: xo.reshape(x, shape), PAIRS)

    @pytest.mark.parametrize("shape", [-1, (0, -1), (-1, 3), (3, -1), (0, 5), (2, 0, 2)])
    def test_reshape_of_an_empty_array(self, library, shape):
        agree(library, lambda x: xo.reshape(x, shape), np.ones((0, 3)))

    @pytest.mark.parametrize("axis", [None, 0, -1])
    @pytest.mark.parametrize("descending", [False, True])
    def test_sort_and_argsort(self, library, axis, descending):
        for host in (PAIRS, COMPLEX[:1], COMPLEX[1:] if not descending else COMPLEX[:1].T):
            agree(library, lambda x: xo.sort(x, axis=axis, descending=descending), host)
            agree(library, lambda x: xo.argsort(x, axis=axis, descending=descending), host)

    @pytest.mark.parametrize("number", [0, 0.5, 1j, True, 300])
    def test_diff_takes_weakly_typed_numbers(self, library, number):
        for host in (U8, np.asarray([0.5, 2], dtype="float32"), np.asarray([[1, 4], [2, 8]])):
            agree(library, lambda x: xo.diff(x, prepend=number), host)
            agree(library, lambda x: xo.diff(x, prepend=number, append=number, n=2, axis=0), host)
        x = library.array(np.asarray([0.5, 2], dtype="float32"))
        assert library.host(xo.diff(x, prepend=0.0)).dtype == "float32"

    def test_searchsorted(self, library):
        agree(library, lambda x, v: xo.searchsorted(x, v), np.ones((2, 4)), np.ones((2, 2)))
        numbers, found = np.asarray([1, 2, np.nan, np.nan]), np.asarray([[1.1, np.nan], [np.inf, 0]])
        for side in ("left", "right"):
            agree(library, lambda x, v, s=side: xo.searchsorted(x, v, side=s), numbers, found)


def functions_along(axis):
    """Functions of a matrix that take axes."""
    reductions = ("sum", "prod", "max", "min", "mean", "std", "var", "all", "any", "count_nonzero")
    for name in (*reductions, "argmax", "argmin", "cumulative_sum", "sort", "flip", "expand_dims", "unstack"):
        yield lambda x, name=name: getattr(xo, name)(x, axis=axis)
    yield lambda x: xo.linalg.vector_norm(x, axis=axis)
    yield lambda x: xo.squeeze(x[:1], axis=axis)
    yield lambda x: xo.concat([x, x], axis=axis)


def test_integers_of_numpy_are_axes(library):
    x = library.array(np.asarray([[3.0, 1.0], [2.0, 0.0]]))
    for want, got in zip(functions_along(0), functions_along(np.int64(0)), strict=True):
        results = [f(x) if isinstance(f(x), tuple) else (f(x),) for f in (want, got)]
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(library.host(a), library.host(b))
    x = library.array(np.ones((2, 3)))
    assert xo.sum(x, axis=(np.int64(0), np.int64(1))).shape == ()
    with pytest.raises(TypeError):
        xo.sum(x, axis=1.0)


class TestEinsum:
    @pytest.mark.parametrize(
        "dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool", "float32"]
    )
    @pytest.mark.parametrize("subscripts", ["ij,i->", "ij,i->j", "ij,i", "ij,i->ji"])
    def test_dtypes(self, library, subscripts, dtype):
        x, v = np.asarray([[1, 0, 3], [200, 1, 1]]).astype(dtype), np.asarray([1, 3]).astype(dtype)
        got = library.host(xo.einsum(subscripts, library.array(x), library.array(v)))
        np.testing.assert_array_equal(got, np.einsum(subscripts, x, v))
        assert got.dtype == dtype

    @pytest.mark.parametrize(
        "subscripts", ["ij,i->jk", "ijk,i->j", "ij,i,k->j", "ij,j->j", "i!,i->j", "i!,i->i!", "ij->j", "ij,i->jj"]
    )
    def test_subscripts_that_do_not_fit(self, library, subscripts):
        operands = library.array(F4), library.array(F4[:, 0])
        assert outcome(lambda: xo.einsum(subscripts, *operands)) is ValueError

    def test_subscripts_that_are_no_string(self, library):
        assert outcome(lambda: xo.einsum(0, library.array(F4))) is TypeError


def test_attention_does_not_rely_on_rank_promotion():
    jax = pytest.importorskip("jax")
    pytest.importorskip("xarrayops_backends.jax")
    q = jax.numpy.ones((1, 2, 4, 8))
    with jax.numpy_rank_promotion("raise"):
        for options in ({}, {"causal": True}, {"kv_lengths": jax.numpy.asarray([3])}):
            np.testing.assert_allclose(xo.attention(q, q, q, **options), 1.0, rtol=1e-6)
            assert jax.grad(lambda x, o=options: xo.sum(xo.attention(x, x, x, **o)))(q).shape == q.shape


def test_take_without_an_axis_flattens(library):
    for shape in ((2, 3), (6,), (1, 2, 3), (6, 0)):
        host = np.arange(float(np.prod(shape))).reshape(shape)
        for indices in ([5, -1, 0], [[1], [2]], []):
            index = np.asarray(indices if host.size else [], dtype="int64")
            check(library, lambda xp, x, i: xp.take(x, i), host, index)
    check(library, lambda xp, x, i: xp.take(x, i), np.asarray(5.0), np.asarray([0, 0]))


def test_one_array_of_arrays(library):
    host = np.arange(12.0).reshape(2, 3, 2)
    check(library, lambda xp, x: xp.stack(x), host)
    check(library, lambda xp, x: xo.concat(x) if xp is xo else np.concatenate(x), host)
