# The functions of the Python array API standard 2025.12. tools/generate.py makes xarrayops/standard.py,
# xarrayops/linalg.py, xarrayops/fft.py and the lists of their names from this table.
#
# An annotation gives the role of a parameter in the dispatch:
#   array      an array, required                   operand    an array or a Python scalar
#   maybe      an array, a Python scalar or None    arrays     a sequence of arrays
#   dtype      a native dtype or its name           device     a native device or its name
#   index      an array of indices, required; for type checkers it does not determine the class of the result
# Other annotations have no effect on the dispatch. Results with named fields are in xarrayops/plugin/arrays.py.
#
# A section names the file of xarrayops/testing/_suite that has the oracle rows of its functions. A new function needs a line
# here and such a row. `python tools/generate.py` writes everything else, and prints the missing rows.

# section: creation; rows in standard/creation.py
def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: dtype = None, device: device = None
) -> array:
    "Evenly spaced values from start (included) to stop (excluded)."

def empty(shape: int | tuple[int, ...], *, dtype: dtype = None, device: device = None) -> array:
    "An uninitialized array."

def empty_like(x: array, /, *, dtype: dtype = None, device: device = None) -> array:
    "An uninitialized array, shaped like x."

def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: dtype = None, device: device = None) -> array:
    "A matrix with ones on diagonal k and zeros elsewhere."

def full(shape: int | tuple[int, ...], fill_value: complex, *, dtype: dtype = None, device: device = None) -> array:
    "An array filled with one value."

def full_like(x: array, /, fill_value: complex, *, dtype: dtype = None, device: device = None) -> array:
    "An array shaped like x, filled with one value."

def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: dtype = None, device: device = None, endpoint: bool = True
) -> array:
    "num evenly spaced values from start to stop."

def meshgrid(*arrays: array, indexing: Literal["xy", "ij"] = "xy") -> tuple[array, ...]:
    "Coordinate matrices from coordinate vectors."

def ones(shape: int | tuple[int, ...], *, dtype: dtype = None, device: device = None) -> array:
    "An array of ones."

def ones_like(x: array, /, *, dtype: dtype = None, device: device = None) -> array:
    "An array of ones, shaped like x."

def tril(x: array, /, *, k: int = 0) -> array:
    "The lower triangle of a matrix, or of each matrix in a stack."

def triu(x: array, /, *, k: int = 0) -> array:
    "The upper triangle of a matrix, or of each matrix in a stack."

def zeros(shape: int | tuple[int, ...], *, dtype: dtype = None, device: device = None) -> array:
    "An array of zeros."

def zeros_like(x: array, /, *, dtype: dtype = None, device: device = None) -> array:
    "An array of zeros, shaped like x."

# section: data types; rows in standard/dtypes.py
def astype(x: array, dtype: dtype, /, *, copy: bool = True, device: device = None, saturate: bool = False) -> array:
    """x cast to a dtype, even if type promotion does not allow it.

    Casts to integers drop the fraction. What becomes of NaN and of numbers that the dtype cannot hold is left to the
    library: 300.0 as uint8 is 44 in NumPy and 255 in JAX.

    With ``saturate=True`` it is the same on every library. Numbers beyond the limits of an integer dtype, infinities
    included, become the nearest limit, and NaN becomes 0. In float8_e4m3fn, which has no infinities, they become -448
    or 448, and NaN stays NaN. Casts to the other dtypes are the same on every library without it.

    >>> import numpy as np, xarrayops as xo
    >>> xo.astype(np.asarray([300.0, -1.5, np.nan, 2.9]), "uint8", saturate=True)
    array([255,   0,   0,   2], dtype=uint8)
    """

# section: elementwise; rows in standard/elementwise.py
def abs(x: array, /) -> array:
    "Absolute value."

def acos(x: array, /) -> array:
    "Inverse cosine, in radians."

def acosh(x: array, /) -> array:
    "Inverse hyperbolic cosine."

def add(x1: operand, x2: operand, /) -> array:
    "Sum."

def asin(x: array, /) -> array:
    "Inverse sine, in radians."

def asinh(x: array, /) -> array:
    "Inverse hyperbolic sine."

def atan(x: array, /) -> array:
    "Inverse tangent, in radians."

def atan2(x1: operand, x2: operand, /) -> array:
    "Inverse tangent of x1/x2 in the right quadrant, in radians."

def atanh(x: array, /) -> array:
    "Inverse hyperbolic tangent."

def bitwise_and(x1: operand, x2: operand, /) -> array:
    "Bitwise and."

def bitwise_invert(x: array, /) -> array:
    "x with every bit inverted."

def bitwise_left_shift(x1: operand, x2: operand, /) -> array:
    "x1 with its bits shifted left by x2."

def bitwise_or(x1: operand, x2: operand, /) -> array:
    "Bitwise or."

def bitwise_right_shift(x1: operand, x2: operand, /) -> array:
    "x1 with its bits shifted right by x2."

def bitwise_xor(x1: operand, x2: operand, /) -> array:
    "Bitwise exclusive or."

def ceil(x: array, /) -> array:
    "The smallest integer not less than each element."

def clip(x: array, /, min: maybe = None, max: maybe = None) -> array:
    "Each element limited to the range from min to max."

def conj(x: array, /) -> array:
    "Complex conjugate."

def copysign(x1: operand, x2: operand, /) -> array:
    "The magnitude of x1 with the sign of x2."

def cos(x: array, /) -> array:
    "Cosine of an angle in radians."

def cosh(x: array, /) -> array:
    "Hyperbolic cosine."

def divide(x1: operand, x2: operand, /) -> array:
    "Quotient."

def equal(x1: operand, x2: operand, /) -> array:
    "Whether x1 equals x2."

def exp(x: array, /) -> array:
    "e raised to the power of each element."

def expm1(x: array, /) -> array:
    "exp(x) - 1, accurate near zero."

def floor(x: array, /) -> array:
    "The greatest integer not greater than each element."

def floor_divide(x1: operand, x2: operand, /) -> array:
    "The quotient, rounded toward minus infinity."

def greater(x1: operand, x2: operand, /) -> array:
    "Whether x1 is greater than x2."

def greater_equal(x1: operand, x2: operand, /) -> array:
    "Whether x1 is greater than or equal to x2."

def hypot(x1: operand, x2: operand, /) -> array:
    "The square root of x1**2 + x2**2, without overflow."

def imag(x: array, /) -> array:
    "Imaginary part."

def isfinite(x: array, /) -> array:
    "Whether each element is finite."

def isinf(x: array, /) -> array:
    "Whether each element is infinite."

def isnan(x: array, /) -> array:
    "Whether each element is NaN."

def less(x1: operand, x2: operand, /) -> array:
    "Whether x1 is less than x2."

def less_equal(x1: operand, x2: operand, /) -> array:
    "Whether x1 is less than or equal to x2."

def log(x: array, /) -> array:
    "Natural logarithm."

def log10(x: array, /) -> array:
    "Logarithm to base 10."

def log1p(x: array, /) -> array:
    "log(1 + x), accurate near zero."

def log2(x: array, /) -> array:
    "Logarithm to base 2."

def logaddexp(x1: operand, x2: operand, /) -> array:
    "log(exp(x1) + exp(x2)), without overflow."

def logical_and(x1: operand, x2: operand, /) -> array:
    "Logical and."

def logical_not(x: array, /) -> array:
    "Logical not."

def logical_or(x1: operand, x2: operand, /) -> array:
    "Logical or."

def logical_xor(x1: operand, x2: operand, /) -> array:
    "Logical exclusive or."

def maximum(x1: operand, x2: operand, /) -> array:
    "The greater of x1 and x2; NaN where either is NaN."

def minimum(x1: operand, x2: operand, /) -> array:
    "The smaller of x1 and x2; NaN where either is NaN."

def multiply(x1: operand, x2: operand, /) -> array:
    "Product."

def negative(x: array, /) -> array:
    "The negative of each element."

def nextafter(x1: operand, x2: operand, /) -> array:
    "The next floating-point number after x1 in the direction of x2."

def not_equal(x1: operand, x2: operand, /) -> array:
    "Whether x1 differs from x2."

def positive(x: array, /) -> array:
    "+x."

def pow(x1: operand, x2: operand, /) -> array:
    "x1 raised to the power of x2."

def real(x: array, /) -> array:
    "Real part."

def reciprocal(x: array, /) -> array:
    "1/x."

def remainder(x1: operand, x2: operand, /) -> array:
    "The remainder of x1/x2, with the sign of x2."

def round(x: array, /) -> array:
    "The nearest integer; halves are rounded to the even one."

def sign(x: array, /) -> array:
    "-1, 0 or 1; x / abs(x) for a complex number."

def signbit(x: array, /) -> array:
    "Whether the sign bit is set."

def sin(x: array, /) -> array:
    "Sine of an angle in radians."

def sinh(x: array, /) -> array:
    "Hyperbolic sine."

def sqrt(x: array, /) -> array:
    "Square root."

def square(x: array, /) -> array:
    "Square."

def subtract(x1: operand, x2: operand, /) -> array:
    "Difference."

def tan(x: array, /) -> array:
    "Tangent of an angle in radians."

def tanh(x: array, /) -> array:
    "Hyperbolic tangent."

def trunc(x: array, /) -> array:
    "Each element without its fractional part."

# section: indexing; rows in operations/indexing.py
def take(x: array, indices: index, /, *, axis: int | None = None) -> array:
    "The elements at the given indices along an axis."

def take_along_axis(x: array, indices: index, /, *, axis: int = -1) -> array:
    "The elements of x along an axis, selected by indices with as many axes as x."

# section: linear algebra; rows in standard/linalg.py
def matmul(x1: array, x2: array, /, *, out_dtype: dtype = None) -> array:
    """Matrix product.

    ``out_dtype="int32"`` gives the exact product of 8-bit integers (int8 or uint8), with the same bits on every
    library. Without it the product has the dtype of the operands, and wraps around.

    With ``out_dtype=``, raises before anything is computed: `Unsupported` for other dtypes of operands or result;
    `OverflowError` if a sum of this length may exceed int32, that is beyond 131071 products of int8, 65793 of uint8 and
    int8, or 33025 of uint8; `ValueError` for shapes that do not fit.

    >>> import numpy as np, xarrayops as xo
    >>> x = np.full((1, 1000), 100, dtype=np.int8)
    >>> xo.matmul(x, x.T), xo.matmul(x, x.T, out_dtype="int32")
    (array([[-128]], dtype=int8), array([[10000000]], dtype=int32))
    """

def matrix_transpose(x: array, /) -> array:
    "x with its last two axes exchanged."

def tensordot(x1: array, x2: array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> array:
    "Contraction of x1 and x2 over the given axes."

def vecdot(x1: array, x2: array, /, *, axis: int = -1) -> array:
    "Dot product along an axis; x1 is conjugated."

# section: manipulation; rows in standard/manipulation.py
def broadcast_arrays(*arrays: array) -> tuple[array, ...]:
    "The arrays, broadcast against one another."

def broadcast_to(x: array, /, shape: tuple[int, ...]) -> array:
    "x broadcast to a shape."

def concat(arrays: arrays, /, *, axis: int | None = 0) -> array:
    "Arrays joined along an existing axis."

def expand_dims(x: array, /, axis: int | tuple[int, ...]) -> array:
    "x with new axes of extent one."

def flip(x: array, /, *, axis: int | tuple[int, ...] | None = None) -> array:
    "x with its elements in reverse order along the given axes."

def moveaxis(x: array, source: int | tuple[int, ...], destination: int | tuple[int, ...], /) -> array:
    "x with axes moved to other positions."

def permute_dims(x: array, /, axes: tuple[int, ...]) -> array:
    "x with its axes permuted."

def repeat(x: array, repeats: operand, /, *, axis: int | None = None) -> array:
    "x with each element repeated."

def reshape(x: array, /, shape: tuple[int, ...], *, copy: bool | None = None) -> array:
    "The same elements in another shape."

def roll(x: array, /, shift: int | tuple[int, ...], *, axis: int | tuple[int, ...] | None = None) -> array:
    """x with its elements shifted cyclically along the given axes.

    Shifts and axes broadcast: one shift serves several axes, and several shifts along one axis add up. Without an axis
    the elements move in C order, by the sum of the shifts.
    """

def squeeze(x: array, /, axis: int | tuple[int, ...]) -> array:
    "x without the given axes of extent one."

def stack(arrays: arrays, /, *, axis: int = 0) -> array:
    "Arrays joined along a new axis."

def tile(x: array, repetitions: tuple[int, ...], /) -> array:
    "x repeated along its axes."

def unstack(x: array, /, *, axis: int = 0) -> tuple[array, ...]:
    "The slices of x along an axis."

# section: searching; rows in operations/indexing.py
def argmax(x: array, /, *, axis: int | None = None, keepdims: bool = False) -> array:
    "The index of the first maximum."

def argmin(x: array, /, *, axis: int | None = None, keepdims: bool = False) -> array:
    "The index of the first minimum."

def count_nonzero(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    "The number of elements that are not zero."

def nonzero(x: array, /) -> tuple[array, ...]:
    "The indices of the elements that are not zero."

def searchsorted(x1: array, x2: operand, /, *, side: Literal["left", "right"] = "left", sorter: maybe = None) -> array:
    "The indices at which x2 can be inserted into the sorted x1 so that it stays sorted."

def where(condition: array, x1: operand, x2: operand, /) -> array:
    "x1 where the condition is true, else x2."

# section: sets; rows in standard/sets.py
def isin(x1: operand, x2: operand, /, *, invert: bool = False) -> array:
    "Whether each element of x1 is an element of x2."

def unique_all(x: array, /) -> UniqueAll:
    "(values, indices, inverse_indices, counts) of the distinct elements, sorted by value; each NaN is distinct."

def unique_counts(x: array, /) -> UniqueCounts:
    "(values, counts) of the distinct elements, sorted by value; each NaN is distinct."

def unique_inverse(x: array, /) -> UniqueInverse:
    "(values, inverse_indices) of the distinct elements, sorted by value; each NaN is distinct."

def unique_values(x: array, /) -> array:
    "The distinct elements, sorted. Each NaN is distinct, and NaNs come last."

# section: sorting; rows in operations/indexing.py
def argsort(x: array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> array:
    "The indices that would sort x."

def sort(x: array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> array:
    "x sorted."

# section: statistics; rows in standard/reductions.py
def cumulative_prod(
    x: array, /, *, axis: int | None = None, dtype: dtype = None, include_initial: bool = False
) -> array:
    "Running product."

def cumulative_sum(
    x: array, /, *, axis: int | None = None, dtype: dtype = None, include_initial: bool = False
) -> array:
    "Running sum."

def max(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    "The greatest element; NaN if any element is NaN."

def mean(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    "Arithmetic mean."

def min(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    "The smallest element; NaN if any element is NaN."

def prod(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, dtype: dtype = None, keepdims: bool = False
) -> array:
    "Product of the elements."

def std(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False
) -> array:
    "Standard deviation."

def sum(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, dtype: dtype = None, keepdims: bool = False
) -> array:
    "Sum of the elements."

def var(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, correction: float = 0.0, keepdims: bool = False
) -> array:
    "Variance."

# section: utility; rows in standard/reductions.py
def all(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    "Whether every element is true."

def any(x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> array:
    "Whether any element is true."

def diff(x: array, /, *, axis: int = -1, n: int = 1, prepend: maybe = None, append: maybe = None) -> array:
    "Differences between neighbouring elements along an axis."

# section: linalg; rows in standard/linalg.py
def cholesky(x: array, /, *, upper: bool = False) -> array:
    "Cholesky factor of a positive-definite matrix."

def cross(x1: array, x2: array, /, *, axis: int = -1) -> array:
    "Cross product of vectors of three elements."

def det(x: array, /) -> array:
    "Determinant."

def diagonal(x: array, /, *, offset: int = 0) -> array:
    "The elements of a diagonal of a matrix."

def eig(x: array, /) -> Eigen:
    "(eigenvalues, eigenvectors) of a square matrix."

def eigh(x: array, /) -> Eigen:
    "(eigenvalues, eigenvectors) of a Hermitian matrix."

def eigvals(x: array, /) -> array:
    "Eigenvalues of a square matrix."

def eigvalsh(x: array, /) -> array:
    "Eigenvalues of a Hermitian matrix."

def inv(x: array, /) -> array:
    "Inverse of a square matrix."

def matrix_norm(x: array, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro") -> array:
    "Norm of a matrix."

def matrix_power(x: array, n: int, /) -> array:
    "A square matrix raised to an integer power."

def matrix_rank(x: array, /, *, rtol: maybe = None) -> array:
    "Number of singular values above a relative tolerance."

def outer(x1: array, x2: array, /) -> array:
    "Outer product of two vectors."

def pinv(x: array, /, *, rtol: maybe = None) -> array:
    "Moore-Penrose inverse."

def qr(x: array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QR:
    "(Q, R) of a matrix."

def slogdet(x: array, /) -> Slogdet:
    "(sign, logabsdet) of the determinant."

def solve(x1: array, x2: array, /) -> array:
    "The solution of x1 @ x = x2."

def svd(x: array, /, *, full_matrices: bool = True) -> SVD:
    "(U, S, Vh) of a matrix."

def svdvals(x: array, /) -> array:
    "Singular values."

def trace(x: array, /, *, offset: int = 0, dtype: dtype = None) -> array:
    "Sum of a diagonal of a matrix."

def vector_norm(
    x: array, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False, ord: float = 2
) -> array:
    "Norm of a vector."

# section: fft; rows in standard/fft.py
def fft(x: array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> array:
    "Discrete Fourier transform."

def fftfreq(n: int, /, *, d: float = 1.0, dtype: dtype = None, device: device = None) -> array:
    "Sample frequencies of fft."

def fftn(
    x: array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> array:
    "Discrete Fourier transform over several axes."

def fftshift(x: array, /, *, axes: int | Sequence[int] | None = None) -> array:
    "x with the zero frequency moved to the centre."

def hfft(x: array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> array:
    "Fourier transform of a Hermitian signal."

def ifft(x: array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> array:
    "Inverse of fft."

def ifftn(
    x: array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> array:
    "Inverse of fftn."

def ifftshift(x: array, /, *, axes: int | Sequence[int] | None = None) -> array:
    "Inverse of fftshift."

def ihfft(x: array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> array:
    "Inverse of hfft."

def irfft(x: array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> array:
    "Inverse of rfft."

def irfftn(
    x: array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> array:
    "Inverse of rfftn."

def rfft(x: array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> array:
    "Fourier transform of a real signal."

def rfftfreq(n: int, /, *, d: float = 1.0, dtype: dtype = None, device: device = None) -> array:
    "Sample frequencies of rfft and irfft."

def rfftn(
    x: array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> array:
    "Fourier transform of a real signal over several axes."

# section: by hand; rows in standard/creation.py
# These do not dispatch on the class of an array. They are in xarrayops/_ops/creation.py and xarrayops/_ops/dtypes.py.
def asarray(obj: Any, /, *, dtype: dtype = None, device: device = None, copy: bool | None = None) -> array:
    "An array with the values of obj."

def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    "The shape to which the given shapes broadcast."

def from_dlpack(x: Any, /, *, device: device = None, copy: bool | None = None) -> array:
    "An array that shares the memory of another, by DLPack."

# section: by hand; rows in standard/dtypes.py
def can_cast(from_: dtype, to: dtype, /) -> bool:
    "Whether type promotion allows the cast."

def finfo(type: dtype, /) -> Any:
    "Limits of a floating-point dtype."

def iinfo(type: dtype, /) -> Any:
    "Limits of an integer dtype."

def isdtype(dtype: dtype, kind: Any) -> bool:
    "Whether a dtype is of a kind."

def result_type(*arrays_and_dtypes: Any) -> dtype:
    "The dtype that results from type promotion."
