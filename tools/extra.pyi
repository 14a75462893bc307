# Functions that the standard lacks, with NumPy's names and NumPy's meaning. tools/generate.py makes
# xarrayops/extra.py from this table, and the functions of the section linalg in xarrayops/linalg.py.
#
# The annotations are those of tools/standard.pyi. A section names a module of xarrayops/_generic/extra, which has
# the generic twins of its functions, and the file of xarrayops/testing/_suite with their oracle rows.
# A backend whose library has the function with this meaning defines it under its own name.

# section: padding; rows in extra/padding.py
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
    "empty" (undefined values). These are NumPy's modes, except that ``mode`` cannot be a function.

    The result has the dtype of x, and is lazy if x is. Only "constant" and "empty" can pad an axis of length 0; other
    modes raise ValueError there, as do unknown modes and invalid widths. Law: ``pad(x, w)[w:-w] == x`` for a vector.

    >>> import numpy as np, xarrayops as xo
    >>> xo.pad(np.asarray([1, 2, 3]), (1, 2), "reflect")
    array([2, 1, 2, 3, 2, 1])
    """

# section: counting; rows in extra/counting.py
def bincount(x: array, /, weights: maybe = None, *, minlength: int = 0, length: int | None = None) -> array:
    """The number of occurrences of each integer from 0, or the sum of its weights.

    x is a vector of non-negative integers. Without ``length`` the result has ``max(minlength, max(x) + 1)`` elements,
    which requires the values of x. With ``length`` it has that many elements, values of x >= ``length`` are not
    counted, and the function works under ``jax.jit`` and ``torch.compile`` and keeps Dask lazy.

    Counts have the default integer dtype. Sums have the dtype of floating-point weights, else the default
    floating-point dtype; NumPy sums in float64. Negative values raise ValueError where the values are known, else they
    are not counted.
    Law: ``bincount(x, length=n)[i] == sum(x == i)``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.bincount(np.asarray([0, 2, 2]), length=4)
    array([1, 0, 2, 0])
    """

def segment_max(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The maximum of each segment of x. A segment is the elements along the first axis with the same id.

    The arguments are those of `segment_sum`. An empty segment has the least value of the dtype: -inf, or the least
    integer. Complex numbers raise TypeError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_max(np.asarray([5, 1, 7]), np.asarray([0, 0, 1]), 2)
    array([5, 7])
    """

def segment_mean(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The mean of each segment of x. A segment is the elements along the first axis with the same id.

    The arguments are those of `segment_sum`. Integers give the default floating-point dtype. The mean of an empty
    segment is NaN, which `topk` counts as the greatest; ``xo.topk(xo.where(xo.isnan(m), -xo.inf, m), k)`` omits the
    empty segments of the means m.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_mean(np.asarray([1.0, 2.0, 5.0]), np.asarray([0, 0, 1]), 2)
    array([1.5, 5. ])
    """

def segment_min(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The minimum of each segment of x. A segment is the elements along the first axis with the same id.

    The arguments are those of `segment_sum`. An empty segment has the greatest value of the dtype: inf, or the greatest
    integer. Complex numbers raise TypeError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_min(np.asarray([5, 1, 7]), np.asarray([0, 0, 1]), 2)
    array([1, 7])
    """

def segment_sum(x: array, /, segment_ids: index, num_segments: int | None = None) -> array:
    """The sum of each segment of x. A segment is the elements along the first axis with the same id.

    ``segment_ids`` is a vector of integers, one for each element of the first axis, in any order. The result has the
    shape ``(num_segments, *x.shape[1:])`` and the dtype of x; booleans are counted in the default integer dtype.
    Elements with ids outside ``range(num_segments)`` are ignored. ``num_segments`` defaults to
    ``max(segment_ids) + 1``, which requires the values of the ids. The name and the meaning are from jax.ops.
    Law: ``segment_sum(x, ids, n)[i] == sum(x[ids == i], axis=0)``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.segment_sum(np.asarray([1.0, 2.0, 5.0]), np.asarray([0, 0, 2]), 3)
    array([3., 0., 5.])
    """

# section: quantiles; rows in extra/quantiles.py
def median(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The median along the axes: the middle value, or the mean of the two in the middle.

    By default over all axes. Integers give the default floating-point dtype, other arrays keep theirs. The result is
    NaN where a value is NaN, and for empty input.
    Law: ``median(x) == quantile(x, 0.5)`` for real numbers.

    >>> import numpy as np, xarrayops as xo
    >>> xo.median(np.asarray([[3.0, 1.0], [2.0, 4.0]]), axis=0)
    array([2.5, 2.5])
    """

def nanmedian(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The median along the axes, ignoring NaN: see `median`.

    NaN where all elements are NaN. As in NumPy there is a warning then, if NumPy computes.

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
    """Percentiles along the axes, ignoring NaN: see `percentile`.

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
    """Quantiles along the axes, ignoring NaN: see `quantile`.

    NaN where all elements are NaN.

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

    ``q`` is a number, a list or an array of numbers from 0 to 1; its axes come first in the result. ``method`` is one
    of the nine of Hyndman and Fan, "inverted_cdf", "averaged_inverted_cdf", "closest_observation",
    "interpolated_inverted_cdf", "hazen", "weibull", "linear", "median_unbiased" and "normal_unbiased", or "lower",
    "higher", "midpoint" or "nearest", as in NumPy.

    Integers give the default floating-point dtype, except with methods that return an element. The result is NaN where
    a value is NaN, and for empty input. Complex numbers raise TypeError. An unknown method raises ValueError, as does a
    q outside 0 to 1 if its value is known. With Dask the axes are rechunked to one chunk.
    Law: ``quantile(x, 0) == min(x)``, ``quantile(x, 1) == max(x)``.
    Source: Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50 (1996).

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.quantile(np.asarray([1.0, 2.0, 4.0]), 0.75))
    3.0
    """

# section: comparison; rows in extra/comparison.py
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
    """Whether ``abs(x1 - x2) <= atol + rtol * abs(x2)``, for each element.

    Equal infinities are close; NaNs are close only with ``equal_nan``. Integers are compared as floating-point
    numbers. The shapes broadcast; the result is boolean.

    >>> import numpy as np, xarrayops as xo
    >>> xo.isclose(np.asarray([1.0, 2.0]), 1.000001)
    array([ True, False])
    """

# section: shaping; rows in extra/shaping.py
def argwhere(x: array, /) -> array:
    """The indices of the elements of x that are not zero, ``(count, x.ndim)``: a row for each, in C order.

    The shape depends on the values, as that of `nonzero`. Law: ``argwhere(x) == stack(nonzero(x), axis=-1)``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.argwhere(np.asarray([[0, 5], [7, 0]]))
    array([[0, 1],
           [1, 0]])
    """

def atleast_nd(x: array, /, ndim: int) -> array:
    """x with axes of length 1 in front, so that it has at least ``ndim`` axes; x itself if it already has.

    NumPy has one function each for 1, 2 and 3 axes; ``atleast_3d`` appends an axis to a matrix.

    >>> import numpy as np, xarrayops as xo
    >>> xo.atleast_nd(np.asarray([1, 2]), ndim=2)
    array([[1, 2]])
    """

def compress(condition: array, x: array, /, *, axis: int | None = None) -> array:
    """The elements of x along an axis where the condition, a vector of booleans, is true.

    By default x is flattened. A shorter condition is extended with False; a longer one must be False beyond the axis.
    The shape of the result depends on values, so it does not work under ``jax.jit``. Law: ``compress(m, x) == x[m]`` of
    vectors.

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

    The dtype is that of x. Arrays without 1 or 2 dimensions raise ValueError. Law: ``diag(diag(v, k), k) == v``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.diag(np.asarray([1, 2]))
    array([[1, 0],
           [0, 2]])
    """

def fill_diagonal(x: array, value: operand, /, *, wrap: bool = False) -> array:
    """x with a value on its main diagonal.

    The result is a new array; NumPy's function writes to x. An array of values is repeated as often as needed. If x has
    more than two axes, they must have the same length. With ``wrap`` the diagonal of a tall matrix restarts below the
    first square.

    >>> import numpy as np, xarrayops as xo
    >>> xo.fill_diagonal(np.asarray([[1, 2], [3, 4]]), 0)
    array([[0, 2],
           [3, 0]])
    """

def insert(x: array, index: int | slice | Sequence[int], values: operand, /, *, axis: int | None = None) -> array:
    """x with values before the elements at an index along an axis.

    ``index`` is an integer, a slice or a sequence of integers, whose values must be known; each is a position in x. By
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
    x: array,
    /,
    window_shape: int | tuple[int, ...],
    axis: int | tuple[int, ...] | None = None,
    *,
    step: int | tuple[int, ...] = 1,
) -> array:
    """The windows of a shape. Each axis of x becomes the positions of the window; the axes of the window come last.

    The result is a view of x if the library has strides (NumPy, PyTorch): do not write to it. Without ``axis``,
    ``window_shape`` has a length for each axis of x. A window longer than its axis raises ValueError. ``step`` is the
    distance between windows, for all axes or for each: the windows between them are never made, on no library.
    Law: ``sliding_window_view(v, n, step=s)[i] == v[i * s : i * s + n]``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.sliding_window_view(np.asarray([1, 2, 3, 4]), 3)
    array([[1, 2, 3],
           [2, 3, 4]])
    """

def split(x: array, indices_or_sections: int | Sequence[int], /, *, axis: int = 0) -> tuple[array, ...]:
    """The parts of x along an axis: that many equal ones, or those between the indices.

    Raises ValueError if the axis cannot be divided into so many equal parts. Law: ``concat(split(x, i)) == x`` for
    ascending indices.

    >>> import numpy as np, xarrayops as xo
    >>> xo.split(np.arange(5), [2])
    (array([0, 1]), array([2, 3, 4]))
    """

# section: nans; rows in extra/nans.py
def nan_to_num(x: array, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> array:
    """x with NaN and infinities replaced, by default by 0 and the greatest and least finite numbers.

    The real and imaginary parts of complex numbers are replaced separately. Integers are unchanged.

    >>> import numpy as np, xarrayops as xo
    >>> xo.nan_to_num(np.asarray([np.nan, 1.0, np.inf]), posinf=9.0)
    array([0., 1., 9.])
    """

def nanargmax(x: array, /, *, axis: int | None = None, keepdims: bool = False) -> array:
    """The index of the first maximum along an axis, or of the flattened array, ignoring NaN.

    The index for only NaN is -1. NumPy raises instead, which would make a device wait.

    >>> import numpy as np, xarrayops as xo
    >>> xo.nanargmax(np.asarray([[1.0, np.nan], [np.nan, np.nan]]), axis=1)
    array([ 0, -1])
    """

def nanargmin(x: array, /, *, axis: int | None = None, keepdims: bool = False) -> array:
    """The index of the first minimum along an axis, or of the flattened array, ignoring NaN; -1 for only NaN.

    >>> import numpy as np, xarrayops as xo
    >>> int(xo.nanargmin(np.asarray([3.0, np.nan, 1.0])))
    2
    """

def nanmax(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The maximum along the axes, ignoring NaN; NaN where all elements are NaN. Empty input raises ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmax(np.asarray([1.0, np.nan])))
    1.0
    """

def nanmean(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The mean along the axes, ignoring NaN; NaN where all elements are NaN.

    Integers give the default floating-point dtype.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmean(np.asarray([1.0, np.nan, 2.0])))
    1.5
    """

def nanmin(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The minimum along the axes, ignoring NaN; NaN where all elements are NaN. Empty input raises ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanmin(np.asarray([1.0, np.nan])))
    1.0
    """

def nanstd(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False
) -> array:
    """The standard deviation along the axes, ignoring NaN: the square root of `nanvar`.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanstd(np.asarray([1.0, np.nan, 3.0])))
    1.0
    """

def nansum(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, dtype: dtype = None, keepdims: bool = False
) -> array:
    """The sum along the axes, ignoring NaN; 0 where all elements are NaN.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nansum(np.asarray([1.0, np.nan, 3.0])))
    4.0
    """

def nanvar(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False
) -> array:
    """The variance along the axes, ignoring NaN; NaN where too few elements remain.

    ``correction`` is subtracted from the number of elements, as in `var`; NumPy also calls it ddof. Integers give the
    default floating-point dtype.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.nanvar(np.asarray([1.0, np.nan, 3.0]), correction=1))
    2.0
    """

# section: statistics; rows in extra/statistics.py
def average(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, weights: maybe = None, keepdims: bool = False
) -> array:
    """The weighted mean along the axes, by default over all of them.

    ``weights`` have the shape of x, or the lengths of the axes in the given order. Without weights this is `mean`.
    Integers give the default floating-point dtype. Weights of another shape raise ValueError; NumPy raises for a sum of
    0, which gives NaN or an infinity here. Law: ``average(x, weights=w) == sum(x * w) / sum(w)``.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.average(np.asarray([1.0, 4.0]), weights=np.asarray([2, 1])))
    2.0
    """

def corrcoef(x: array, y: maybe = None, /, *, rowvar: bool = True) -> array:
    """The matrix of correlation coefficients of the rows of x, and of y: `cov` scaled by the standard deviations.

    >>> import numpy as np, xarrayops as xo
    >>> xo.corrcoef(np.asarray([[1.0, 2.0], [4.0, 2.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """

def cov(
    x: array,
    y: maybe = None,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1,
    fweights: maybe = None,
    aweights: maybe = None,
) -> array:
    """The covariance matrix of the rows of x, and of y, each a variable; with ``rowvar=False`` of the columns.

    ``fweights`` are the frequency and ``aweights`` the importance of each observation. ``correction`` is subtracted
    from the number of observations; NumPy calls it ddof, and ``bias=True`` is ``correction=0``. A single variable gives
    an array without dimensions. Integers give the default floating-point dtype.

    >>> import numpy as np, xarrayops as xo
    >>> xo.cov(np.asarray([[1.0, 2.0], [4.0, 2.0]]))
    array([[ 0.5, -1. ],
           [-1. ,  2. ]])
    """

def digitize(x: array, bins: array, /, *, right: bool = False) -> array:
    """The index of the bin of each element: i for ``bins[i - 1] <= x < bins[i]``, in the default integer dtype.

    ``bins`` is an increasing or decreasing vector. Only NumPy checks this; with other libraries, unordered bins give
    undefined indices. With ``right`` each bin includes its right edge instead of the left one. Elements beyond the bins
    have the index 0 or ``bins.shape[0]``. Complex numbers raise TypeError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.digitize(np.asarray([0.5, 3.0]), np.asarray([1.0, 2.0, 3.0]))
    array([0, 3])
    """

def histogram(
    x: array,
    /,
    bins: operand = 10,
    *,
    range: tuple[float, float] | None = None,
    density: bool = False,
    weights: maybe = None,
) -> tuple[array, ...]:
    """The number of elements in each bin, and the edges of the bins.

    ``bins`` is a number of bins of equal width over ``range``, by default from the least to the greatest element, or a
    vector of increasing edges. The last bin includes its right edge. Elements outside are not counted. With ``weights``
    the result is the sum of the weights in each bin; with ``density`` the integral over all bins is 1. Counts have the
    default integer dtype. Edges and densities have the dtype of a floating-point x, else the default one; sums and
    densities of floating-point weights have the dtype of the weights. ``bins`` cannot be the name of one of NumPy's
    estimators.

    It works under ``jax.jit`` and ``torch.compile``, and keeps Dask lazy. A range that is not finite and increasing
    raises ValueError if NumPy computes; with other libraries only if it is given as numbers. A complex x raises
    TypeError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.histogram(np.asarray([0.0, 1.0, 1.5]), 2, range=(0, 2))
    (array([1, 2]), array([0., 1., 2.]))
    """

def ptp(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The greatest element minus the least along the axes.

    >>> import numpy as np, xarrayops as xo
    >>> int(xo.ptp(np.asarray([3, 7, 5])))
    4
    """

# section: signal; rows in extra/signal.py
def convolve(x1: array, x2: array, /, mode: Literal["full", "same", "valid"] = "full") -> array:
    """The convolution of two vectors.

    ``mode`` is "full", "same" (the length of the longer vector) or "valid" (only where the vectors overlap completely).
    The dtypes are promoted. Empty vectors and arrays of other dimensions raise ValueError.
    Law: ``convolve(a, b)[k] == sum(a[i] * b[k - i])``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.convolve(np.asarray([1, 2, 3]), np.asarray([1, 10]))
    array([ 1, 12, 23, 30])
    """

def correlate(x1: array, x2: array, /, mode: Literal["full", "same", "valid"] = "valid") -> array:
    """The cross-correlation of two vectors: the convolution with the conjugate of x2 in reverse order.

    >>> import numpy as np, xarrayops as xo
    >>> xo.correlate(np.asarray([1, 2, 3]), np.asarray([1, 10]))
    array([21, 32])
    """

def gradient(
    x: array, /, *spacing: operand, axis: int | tuple[int, ...] | None = None, edge_order: int = 1
) -> array | tuple[array, ...]:
    """The gradient of samples along each axis, by central differences, and at the ends by one-sided differences.

    ``spacing`` is empty (1), one number for all axes, or for each axis a number or a vector of coordinates. The
    result is an array for one axis, and a tuple of arrays for several. ``edge_order`` is 1 or 2, and an axis needs one
    element more than that. Integers give the default floating-point dtype.

    >>> import numpy as np, xarrayops as xo
    >>> xo.gradient(np.asarray([1.0, 2.0, 4.0]))
    array([1. , 1.5, 2. ])
    """

def interp(
    x: operand,
    xp: array,
    fp: array,
    /,
    *,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> array:
    """The linear interpolation at x between the points (xp, fp), with increasing xp.

    The result is ``left``, by default ``fp[0]``, before the first point, and ``right``, by default ``fp[-1]``, after
    the last one. With ``period`` the coordinates are periodic and need not be sorted. The dtypes are promoted; integers
    give the default floating-point dtype. Complex coordinates raise TypeError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.interp(np.asarray([0.5, 9.0]), np.asarray([0.0, 1.0]), np.asarray([10.0, 20.0]))
    array([15., 20.])
    """

def polyval(p: array, x: operand, /) -> array:
    """The values at x of the polynomial with the coefficients p, the highest power first.

    >>> import numpy as np, xarrayops as xo
    >>> xo.polyval(np.asarray([1, 2, 3]), np.asarray([0, 10]))
    array([  3, 123])
    """

def trapezoid(y: array, x: maybe = None, /, *, dx: float = 1.0, axis: int = -1) -> array:
    """The integral of samples along an axis by the trapezoidal rule.

    The samples are at the coordinates x, a vector or an array of the shape of y, or ``dx`` apart.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.trapezoid(np.asarray([1.0, 2.0, 3.0])))
    4.0
    """

# section: order; rows in extra/order.py
def argpartition(x: array, /, kth: int | Sequence[int], *, axis: int | None = -1) -> array:
    """Indices that move each element ``kth`` to its sorted position: see `partition`.

    >>> import numpy as np, xarrayops as xo
    >>> int(xo.argpartition(np.asarray([3, 1, 2]), 0)[0])
    1
    """

def lexsort(keys: arrays, /, *, axis: int = -1) -> array:
    """Indices that sort by several keys, of which the last is the primary one. The sort is stable.

    The keys are a sequence of arrays of one shape.

    >>> import numpy as np, xarrayops as xo
    >>> xo.lexsort([np.asarray([2, 1, 0]), np.asarray([1, 0, 1])])
    array([1, 2, 0])
    """

def partition(x: array, /, kth: int | Sequence[int], *, axis: int | None = -1) -> array:
    """x with each element ``kth`` in its sorted position, smaller elements before it and greater ones after it.

    The order of the other elements depends on the library. ``axis=None`` flattens x. Law: ``partition(x, k)[k] ==
    sort(x)[k]``.

    >>> import numpy as np, xarrayops as xo
    >>> int(xo.partition(np.asarray([3, 1, 2]), 1)[1])
    2
    """

def topk(x: array, /, k: int, *, axis: int = -1, largest: bool = True) -> tuple[array, ...]:
    """The k greatest elements along an axis, in descending order, and their indices; or the least, in ascending order.

    NaN counts as the greatest. Ties are broken arbitrarily. A k that is negative or larger than the axis raises
    ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> xo.topk(np.asarray([3, 7, 5]), 2)
    (array([7, 5]), array([1, 2]))
    """

# section: sets; rows in extra/sets.py
def intersect1d(
    x1: array, x2: array, /, *, assume_unique: bool = False, return_indices: bool = False
) -> array | tuple[array, ...]:
    """The sorted distinct elements that are in both arrays.

    ``return_indices`` also returns the index of the first occurrence of each in both flattened arrays. The shape
    depends on values, so it does not work under ``jax.jit``; Dask stays lazy. ``assume_unique`` asserts that both have
    no duplicates.

    >>> import numpy as np, xarrayops as xo
    >>> xo.intersect1d(np.asarray([3, 1, 2]), np.asarray([2, 3, 5]))
    array([2, 3])
    """

def setdiff1d(x1: array, x2: array, /, *, assume_unique: bool = False) -> array:
    """The sorted distinct elements of x1 that are not in x2; in the order of x1 with ``assume_unique``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.setdiff1d(np.asarray([3, 1, 2]), np.asarray([2, 5]))
    array([1, 3])
    """

def setxor1d(x1: array, x2: array, /, *, assume_unique: bool = False) -> array:
    """The sorted distinct elements that are in exactly one of the arrays.

    >>> import numpy as np, xarrayops as xo
    >>> xo.setxor1d(np.asarray([3, 1, 2]), np.asarray([2, 5]))
    array([1, 3, 5])
    """

def union1d(x1: array, x2: array, /) -> array:
    """The sorted distinct elements of both arrays.

    >>> import numpy as np, xarrayops as xo
    >>> xo.union1d(np.asarray([3, 1, 2]), np.asarray([2, 5]))
    array([1, 2, 3, 5])
    """

# section: elementwise; rows in extra/elementwise.py
def apply_where(
    condition: array,
    args: array_or_arrays,
    f1: Callable[..., Any],
    f2: Callable[..., Any] | None = None,
    /,
    *,
    fill_value: complex | None = None,
) -> array:
    """``f1(*args)`` where the condition is true, and ``f2(*args)``, or a number, elsewhere.

    ``args`` is an array or a tuple of arrays, which broadcast with the condition. The functions are elementwise. Both
    get all elements, but 1 replaces the elements for the other function, so that neither sees invalid values. Exactly
    one of f2 and ``fill_value`` must be given. Source: apply_where of array-api-extra.

    >>> import numpy as np, xarrayops as xo
    >>> x = np.asarray([4.0, -1.0])
    >>> xo.apply_where(x > 0, x, xo.sqrt, fill_value=0.0)
    array([2., 0.])
    """

def cbrt(x: array, /) -> array:
    """The cube root of real numbers, also of negative ones.

    Integers give the default floating-point dtype; NumPy gives float16 for 8-bit integers.

    >>> import numpy as np, xarrayops as xo
    >>> xo.cbrt(np.asarray([-8.0, 27.0]))
    array([-2.,  3.])
    """

def logsumexp(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    """The logarithm of the sum of the exponentials along the axes, without overflow.

    Empty input gives -inf. Integers give the default floating-point dtype. The name and the meaning are from
    scipy.special.

    >>> import numpy as np, xarrayops as xo
    >>> round(float(xo.logsumexp(np.asarray([1000.0, 1000.0]))), 3)
    1000.693
    """

def one_hot(x: array, /, num_classes: int, *, dtype: dtype = None, axis: int = -1) -> array:
    """One-hot vectors along a new axis: 1 at the index given by each element of x, 0 elsewhere.

    x has an integer dtype; elements outside ``range(num_classes)`` give zeros. ``dtype`` defaults to the default
    floating-point dtype. The name and the meaning are from jax.nn.

    >>> import numpy as np, xarrayops as xo
    >>> xo.one_hot(np.asarray([2, 0]), 3, dtype="int64")
    array([[0, 0, 1],
           [1, 0, 0]])
    """

def softmax(x: array, /, *, axis: int | tuple[int, ...] | None = -1) -> array:
    """Exponentials divided by their sum along the axes, without overflow.

    Integers give the default floating-point dtype. Law: ``sum(softmax(x, axis=a), axis=a) == 1``.

    >>> import numpy as np, xarrayops as xo
    >>> xo.softmax(np.asarray([1000.0, 1000.0]))
    array([0.5, 0.5])
    """

def log_softmax(x: array, /, *, axis: int | tuple[int, ...] | None = -1) -> array:
    """The logarithm of `softmax`, exact also where the softmax is 0 in its dtype.

    Integers give the default floating-point dtype. Law: ``exp(log_softmax(x)) == softmax(x)``. The name is from PyTorch
    and JAX.

    >>> import numpy as np, xarrayops as xo
    >>> xo.log_softmax(np.asarray([1000.0, 0.0]))
    array([    0., -1000.])
    """

def sigmoid(x: array, /) -> array:
    """The logistic function ``1 / (1 + exp(-x))``, without overflow; `scipy.special.expit`.

    Integers give the default floating-point dtype; complex numbers raise. Law: ``sigmoid(-x) == 1 - sigmoid(x)``. The
    name is from PyTorch and JAX.

    >>> import numpy as np, xarrayops as xo
    >>> xo.sigmoid(np.asarray([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """

def erf(x: array, /) -> array:
    """The error function: the integral of ``2 / sqrt(pi) * exp(-t * t)`` from 0 to x; `scipy.special.erf`.

    Integers give the default floating-point dtype; complex numbers raise. Law: ``erf(-x) == -erf(x)``. The normal
    distribution function is ``(1 + erf(x / sqrt(2))) / 2``. Source: W. J. Cody, "Rational Chebyshev approximations for
    the error function", 1969.

    >>> import numpy as np, xarrayops as xo
    >>> xo.erf(np.asarray([-np.inf, 0.0, 10.0]))
    array([-1.,  0.,  1.])
    """

# section: windows; rows in extra/windows.py
def bartlett(n: int, /, *, periodic: bool = False, dtype: dtype = None, device: device = None) -> array:
    """The Bartlett window: a triangle of n values from 0 to 1 and back.

    With ``periodic=True``, for spectra, the values are the first n of a window of n + 1, as SciPy's with ``sym=False``.

    >>> import xarrayops as xo
    >>> xo.bartlett(5)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """

def blackman(n: int, /, *, periodic: bool = False, dtype: dtype = None, device: device = None) -> array:
    """The Blackman window of n values: 0.42, and cosines with the factors 0.5 and 0.08.

    With ``periodic=True``, for spectra, the values are the first n of a window of n + 1, as SciPy's with ``sym=False``.

    >>> import xarrayops as xo
    >>> round(float(xo.blackman(5)[2]), 9)
    1.0
    """

def geomspace(
    start: float, stop: float, /, num: int = 50, *, endpoint: bool = True, dtype: dtype = None, device: device = None
) -> array:
    """num values from start to stop, each the same multiple of the one before.

    Raises ValueError unless both are positive or both negative.

    >>> import xarrayops as xo
    >>> xo.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """

def hamming(n: int, /, *, periodic: bool = False, dtype: dtype = None, device: device = None) -> array:
    """The Hamming window of n values: ``0.54 - 0.46 * cos(t)``, with t from 0 to 2 pi.

    With ``periodic=True``, for spectra, the values are the first n of a window of n + 1, as SciPy's with ``sym=False``.

    >>> import xarrayops as xo
    >>> float(xo.hamming(3)[1])
    1.0
    """

def hanning(n: int, /, *, periodic: bool = False, dtype: dtype = None, device: device = None) -> array:
    """The Hann window of n values: ``0.5 - 0.5 * cos(t)``, with t from 0 to 2 pi.

    With ``periodic=True``, for spectra, the values are the first n of a window of n + 1, as SciPy's with ``sym=False``.

    >>> import xarrayops as xo
    >>> xo.hanning(3)
    array([0., 1., 0.])
    >>> xo.hanning(4, periodic=True)
    array([0. , 0.5, 1. , 0.5])
    """

def kaiser(n: int, beta: float, /, *, periodic: bool = False, dtype: dtype = None, device: device = None) -> array:
    """The Kaiser window of n values; a greater beta makes it narrower.

    With ``periodic=True``, for spectra, the values are the first n of a window of n + 1, as SciPy's with ``sym=False``.
    The Bessel function uses the series of Abramowitz and Stegun, 9.6.12.

    >>> import xarrayops as xo
    >>> float(xo.kaiser(3, 14.0)[1])
    1.0
    """

def logspace(
    start: float,
    stop: float,
    /,
    num: int = 50,
    *,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: dtype = None,
    device: device = None,
) -> array:
    """num values from ``base**start`` to ``base**stop``, each the same multiple of the one before.

    >>> import xarrayops as xo
    >>> xo.logspace(0, 2, 3)
    array([  1.,  10., 100.])
    """

# section: linalg; rows in extra/linalg.py
def cond(x: array, /, *, p: float | Literal["fro", "nuc"] | None = None) -> array:
    """The condition number of matrices: the ratio of the greatest singular value to the least.

    With ``p`` it is ``norm(x, ord=p) * norm(inv(x), ord=p)``. A stack of matrices gives an array. The result is
    infinite if the least singular value is 0; rounding may make it a huge number instead. An empty matrix raises
    ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.linalg.cond(np.asarray([[4.0, 0.0], [0.0, 2.0]])))
    2.0
    """

def lstsq(x1: array, x2: array, /, *, rtol: float | None = None) -> tuple[array, ...]:
    """The least-squares solution of ``x1 @ x = x2``; if there are several, the one with the least norm.

    x1 is a matrix of M rows and N columns, x2 a vector of M or a matrix of K columns. The results are the solution, the
    sum of squared residuals for each column of x2, the rank of x1, and its singular values. Singular
    values up to ``rtol`` times the greatest count as 0; the default is the dtype's resolution times max(M, N). NumPy
    calls it rcond, and returns no residuals if the rank is less than N or M is not greater than N.

    >>> import numpy as np, xarrayops as xo
    >>> a = np.asarray([[1.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    >>> xo.linalg.lstsq(a, np.asarray([1.0, 2.0, 3.0]))[0]
    array([1., 1.])
    """

def norm(
    x: array,
    /,
    *,
    ord: float | Literal["fro", "nuc"] | None = None,
    axis: int | tuple[int, int] | None = None,
    keepdims: bool = False,
) -> array:
    """The norm of a vector or a matrix: `vector_norm` along one axis, `matrix_norm` along two.

    Without ``axis`` the array must be a vector or a matrix; without ``axis`` and ``ord`` it may have any shape, and the
    result is the norm of all elements. As in NumPy, ``ord=None`` is the Frobenius norm of matrices and the 2-norm of
    vectors.
    Integers give the default floating-point dtype. An unknown order raises ValueError.

    >>> import numpy as np, xarrayops as xo
    >>> float(xo.linalg.norm(np.asarray([3.0, 4.0])))
    5.0
    """
