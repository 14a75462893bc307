# The functions that the standard lacks, under NumPy's names and with NumPy's meaning. tools/generate.py makes
# xarrayops/_ops/extended.py and the functions of the section linalg in xarrayops/linalg.py from this table.
#
# The annotations are those of tools/standard.pyi. A section names a module of xarrayops/_generic/extended, which has
# the generic twins of its functions on the standard alone, and the file of xarrayops/testing with their oracle rows.
# A backend whose library has the function with this meaning defines it under its own name.

# section: padding; rows in _padding.py
def pad(
    x: array,
    /,
    pad_width: int | Sequence[Any] | dict[int, Any],
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> array:
    """x with values before and after it along each axis.

    ``pad_width`` is one number, a pair (before, after), a pair for each axis, or a dict of them by axis. ``mode`` is
    "constant" (with ``constant_values``), "edge", "linear_ramp" (to ``end_values``), "maximum", "mean", "median" or
    "minimum" (of ``stat_length`` values at each edge), "reflect" or "symmetric" (with ``reflect_type``), "wrap", or
    "empty" (undefined values). These are NumPy's modes; a function as the mode is refused.

    The result has the dtype of x, and is lazy where x is. An axis of length 0 can be padded by "constant" and "empty"
    only; else, and for a mode or a width that does not exist, ValueError. Law: ``pad(x, w)[w:-w] == x`` for a vector.

    >>> import numpy as np, xarrayops as xo
    >>> xo.pad(np.asarray([1, 2, 3]), (1, 2), "reflect")
    array([2, 1, 2, 3, 2, 1])
    """

# section: counting; rows in _counting.py
def bincount(x: array, /, weights: maybe = None, *, minlength: int = 0, length: int | None = None) -> array:
    """The number of occurrences of each integer from 0 on, or the sum of the weights of each.

    x is a vector of non-negative integers. Without ``length`` the result has ``max(minlength, max(x) + 1)`` elements,
    which a lazy x does not know. With ``length`` it has that many, values of x from there on are not counted, and the
    function works under ``jax.jit`` and ``torch.compile`` and keeps Dask lazy.

    Counts have the default integer dtype, sums that of the weights if it is floating-point, else the default one; NumPy
    sums in float64. Negative values raise ValueError where the values are known, else they are not counted.
    Law: ``bincount(x, length=n)[i] == sum(x == i)``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.bincount(np.asarray([0, 2, 2]), length=4)
    array([1, 0, 2, 0])
    """

def segment_max(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The maximum of each segment of x: the elements along the first axis with the same id.

    As `segment_sum`. An empty segment has the least value of the dtype: -inf, or the least integer.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_max(np.asarray([5, 1, 7]), np.asarray([0, 0, 1]), 2)
    array([5, 7])
    """

def segment_mean(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The mean of each segment of x: the elements along the first axis with the same id.

    As `segment_sum`. Integers give the default floating-point dtype. The mean of an empty segment is NaN.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_mean(np.asarray([1.0, 2.0, 5.0]), np.asarray([0, 0, 1]), 2)
    array([1.5, 5. ])
    """

def segment_min(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The minimum of each segment of x: the elements along the first axis with the same id.

    As `segment_sum`. An empty segment has the greatest value of the dtype: inf, or the greatest integer.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_min(np.asarray([5, 1, 7]), np.asarray([0, 0, 1]), 2)
    array([1, 7])
    """

def segment_sum(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The sum of each segment of x: the elements along the first axis with the same id.

    ``segment_ids`` is a vector of integers, one for each element of the first axis, in any order. The result has the
    shape ``(num_segments, *x.shape[1:])`` and the dtype of x. Ids outside of ``range(num_segments)`` are left out.
    Without ``num_segments`` it is ``max(segment_ids) + 1``, which lazy ids do not know. The name and the meaning are
    those of jax.ops. Law: ``segment_sum(x, ids, n)[i] == sum(x[ids == i], axis=0)``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_sum(np.asarray([1.0, 2.0, 5.0]), np.asarray([0, 0, 2]), 3)
    array([3., 0., 5.])
    """

# section: quantiles; rows in _quantiles.py
def median(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The median along the axes: the middle value, or the mean of the two in the middle.

    By default over all axes. Integers give the default floating-point dtype, other arrays keep theirs. Where a value is
    NaN, the result is NaN; so it is of no elements. Complex numbers raise TypeError.
    Law: ``median(x) == quantile(x, 0.5)``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.median(np.asarray([[3.0, 1.0], [2.0, 4.0]]), axis=0)
    array([2.5, 2.5])
    """

def nanmedian(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The median along the axes, without the elements that are NaN: see `median`.

    NaN where all elements are. NumPy warns there, and this function does so where NumPy computes.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmedian(np.asarray([3.0, np.nan, 1.0])))
    2.0
    """

def nanpercentile(
    x: array,
    /,
    q: operand,
    *,
    axis: int | tuple[int, ...] | None = None,
    method: str = "linear",
    keepdims: bool = False,
) -> array:
    """Percentiles along the axes, without the elements that are NaN: see `percentile`.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanpercentile(np.asarray([3.0, np.nan, 1.0]), 50))
    2.0
    """

def nanquantile(
    x: array,
    /,
    q: operand,
    *,
    axis: int | tuple[int, ...] | None = None,
    method: str = "linear",
    keepdims: bool = False,
) -> array:
    """Quantiles along the axes, without the elements that are NaN: see `quantile`.

    NaN where all elements are.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanquantile(np.asarray([3.0, np.nan, 1.0]), 0.5))
    2.0
    """

def percentile(
    x: array,
    /,
    q: operand,
    *,
    axis: int | tuple[int, ...] | None = None,
    method: str = "linear",
    keepdims: bool = False,
) -> array:
    """Percentiles along the axes: `quantile` of ``q / 100``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.percentile(np.asarray([1.0, 2.0, 3.0]), np.asarray([0.0, 50.0]))
    array([1., 2.])
    """

def quantile(
    x: array,
    /,
    q: operand,
    *,
    axis: int | tuple[int, ...] | None = None,
    method: str = "linear",
    keepdims: bool = False,
) -> array:
    """Quantiles along the axes, by default over all of them.

    ``q`` is a number or an array of numbers from 0 to 1; its axes come first in the result. ``method`` is one of the
    nine of Hyndman and Fan, "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased" and "normal_unbiased", or "lower",
    "higher", "midpoint" or "nearest", as in NumPy.

    Integers give the default floating-point dtype, except by the methods that choose an element. Where a value is NaN,
    the result is NaN; so it is of no elements. Complex numbers raise TypeError, an unknown method ValueError, and so
    does a q outside of 0 to 1 where its value is known. Dask needs the axes in one chunk, and brings them together.
    Law: ``quantile(x, 0) == min(x)``, ``quantile(x, 1) == max(x)``.
    Source: Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996).

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.quantile(np.asarray([1.0, 2.0, 4.0]), 0.75))
    3.0
    """

# section: comparison; rows in _comparison.py
def allclose(x1: operand, x2: operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> array:
    """Whether all elements are close: ``all(isclose(x1, x2))``, as an array without dimensions.

    NumPy's is a bool, which lazy arrays do not have; ``bool(...)`` makes one.

    >>> import numpy as np, xarrayops as xo
    >>> bool(xo.allclose(np.asarray([1.0, 2.0]), np.asarray([1.0, 2.0 + 1e-9])))
    True
    """

def array_equal(x1: array, x2: array, /, *, equal_nan: bool = False) -> array:
    """Whether both arrays have the same shape and the same elements, as an array without dimensions.

    NumPy's is a bool, which lazy arrays do not have; ``bool(...)`` makes one.

    >>> import numpy as np, xarrayops as xo
    >>> bool(xo.array_equal(np.asarray([1, 2]), np.asarray([1, 2, 3])))
    False
    """

def isclose(x1: operand, x2: operand, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> array:
    """Whether each element of x1 is within ``atol + rtol * abs(x2)`` of that of x2.

    Infinities are close to themselves, and NaN is with ``equal_nan`` only. Integers are compared as floating-point
    numbers. The shapes broadcast; the result is boolean.

    >>> import numpy as np, xarrayops as xo
    >>> xo.isclose(np.asarray([1.0, 2.0]), 1.000001)
    array([ True, False])
    """

# section: shaping; rows in _shaping.py
def atleast_nd(x: array, /, ndim: int) -> array:
    """x with axes of length 1 in front, so that it has at least that many; x itself if it has.

    NumPy has the functions for 1, 2 and 3, of which that for 3 appends an axis to a matrix.

    >>> import numpy as np, xarrayops as xo
    >>> xo.atleast_nd(np.asarray([1, 2]), ndim=2)
    array([[1, 2]])
    """

def compress(condition: array, x: array, /, *, axis: int | None = None) -> array:
    """The elements of x along an axis where the condition, a vector of booleans, is true.

    By default x is flattened. A shorter condition is false from its end on, a longer one must be false there. The shape
    of the result depends on values, so it does not work under ``jax.jit``. Law: ``compress(m, x) == x[m]`` of vectors.

    >>> import numpy as np, xarrayops as xo
    >>> xo.compress(np.asarray([True, False, True]), np.asarray([1, 2, 3]))
    array([1, 3])
    """

def delete(x: array, index: int | slice | Sequence[int], /, *, axis: int | None = None) -> array:
    """x without the elements at an index along an axis.

    ``index`` is an integer, a slice, or a sequence or an array of integers, whose values must be known. By default x is
    flattened. An index out of bounds raises IndexError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.delete(np.asarray([5, 6, 7]), 1)
    array([5, 7])
    """

def diag(x: array, /, k: int = 0) -> array:
    """A matrix with the vector x on diagonal k, or diagonal k of the matrix x.

    The dtype is that of x. Other than 1 or 2 dimensions raise ValueError. Law: ``diag(diag(v, k), k) == v``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.diag(np.asarray([1, 2]))
    array([[1, 0],
           [0, 2]])
    """

def fill_diagonal(x: array, value: operand, /, *, wrap: bool = False) -> array:
    """x with a value on its main diagonal.

    The result is a new array; NumPy's function writes x. An array of values is repeated as often as needed. More than
    two axes must have the same length. With ``wrap`` the diagonal of a tall matrix starts again below the first square.

    >>> import numpy as np, xarrayops as xo
    >>> xo.fill_diagonal(np.asarray([[1, 2], [3, 4]]), 0)
    array([[0, 2],
           [3, 0]])
    """

def insert(x: array, index: int | slice | Sequence[int], values: operand, /, *, axis: int | None = None) -> array:
    """x with values before the elements at an index along an axis.

    ``index`` is an integer, a slice or a sequence of integers, whose values must be known; each is a place in x. By
    default x is flattened. The values are cast to the dtype of x. An index out of bounds raises IndexError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.insert(np.asarray([1, 2]), 1, 9)
    array([1, 9, 2])
    """

def kron(x1: array, x2: array, /) -> array:
    """The Kronecker product: blocks of x2, scaled by the elements of x1.

    >>> import numpy as np, xarrayops as xo
    >>> xo.kron(np.asarray([1, 10]), np.asarray([1, 2]))
    array([ 1,  2, 10, 20])
    """

def outer(x1: array, x2: array, /) -> array:
    """The products of each element of x1 and each of x2, as a matrix; arrays of other dimensions are flattened.

    `xarrayops.linalg.outer` takes vectors only.

    >>> import numpy as np, xarrayops as xo
    >>> xo.outer(np.asarray([1, 2]), np.asarray([3, 4]))
    array([[3, 4],
           [6, 8]])
    """

def sliding_window_view(
    x: array, /, window_shape: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None
) -> array:
    """All windows of a shape: the axes of the window come last, and its places along an axis replace that axis.

    It is a view of x where the library has strides (NumPy, PyTorch): do not write to it. Without ``axis`` the window
    has a length for each axis of x. A window longer than its axis raises ValueError.
    Law: ``sliding_window_view(v, n)[i] == v[i : i + n]``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.sliding_window_view(np.asarray([1, 2, 3, 4]), 3)
    array([[1, 2, 3],
           [2, 3, 4]])
    """

# section: nans; rows in _nans.py
def nan_to_num(x: array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> array:
    """x with numbers for NaN and the infinities: by default 0 and the greatest and least finite numbers.

    The parts of complex numbers are replaced each on its own. Integers stay as they are.

    >>> import numpy as np, xarrayops as xo
    >>> xo.nan_to_num(np.asarray([np.nan, 1.0, np.inf]), posinf=9.0)
    array([0., 1., 9.])
    """

def nanmax(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The maximum along the axes, without the elements that are NaN; NaN where all are. No elements raise ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmax(np.asarray([1.0, np.nan])))
    1.0
    """

def nanmean(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The mean along the axes, without the elements that are NaN; NaN where all are.

    Integers give the default floating-point dtype.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmean(np.asarray([1.0, np.nan, 2.0])))
    1.5
    """

def nanmin(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The minimum along the axes, without the elements that are NaN; NaN where all are. No elements raise ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmin(np.asarray([1.0, np.nan])))
    1.0
    """

def nanstd(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False
) -> array:
    """The standard deviation along the axes, without the elements that are NaN: the root of `nanvar`.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanstd(np.asarray([1.0, np.nan, 3.0])))
    1.0
    """

def nansum(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, dtype: dtype = None, keepdims: bool = False
) -> array:
    """The sum along the axes, without the elements that are NaN; 0 where all are.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nansum(np.asarray([1.0, np.nan, 3.0])))
    4.0
    """

def nanvar(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False
) -> array:
    """The variance along the axes, without the elements that are NaN; NaN where too few are left.

    ``correction`` is subtracted from the number of elements, as in `var`; NumPy calls it ddof, too. Integers give the
    default floating-point dtype.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanvar(np.asarray([1.0, np.nan, 3.0]), correction=1))
    2.0
    """

# section: linalg; rows in _norms.py
def norm(
    x: array,
    /,
    *,
    ord: float | Literal["fro", "nuc"] | None = None,
    axis: int | tuple[int, int] | None = None,
    keepdims: bool = False,
) -> array:
    """The norm of a vector or a matrix: `vector_norm` along one axis, `matrix_norm` along two.

    Without ``axis`` the array is a vector or a matrix; without ``axis`` and ``ord`` it may have any shape, and the norm
    is that of all elements. As in NumPy, ``ord=None`` is the Frobenius norm of matrices and the 2-norm of vectors.
    Integers give the default floating-point dtype. An order that does not exist raises ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.linalg.norm(np.asarray([3.0, 4.0])))
    5.0
    """
