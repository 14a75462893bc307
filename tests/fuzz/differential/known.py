# Long: a row for each difference.
"""What legitimately still differs from NumPy: a row for each reason, with a call that must still differ."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy

from tests.fuzz.differential.values import Operand

if TYPE_CHECKING:
    from tests.fuzz.differential.draw import Call
    from tests.fuzz.differential.outcomes import Outcome

ALL = ("numpy", "torch", "jax", "jax-32", "dask")
NOT_NUMPY = ALL[1:]


@dataclass(frozen=True)
class Row:
    """A difference from NumPy, its reason, and a call that shows it on the first of its libraries."""

    what: str
    reason: str
    kinds: tuple[str, ...]
    names: str
    """A regular expression for the whole name of the function."""
    example: str
    operands: dict[str, Operand] = field(default_factory=dict)
    libraries: tuple[str, ...] = ALL
    detail: str = ""
    """A regular expression for what differs."""
    code: str = ""
    """A regular expression for the call."""

    def lists(self, call: Call, library: str, outcome: Outcome) -> bool:
        """Whether the row lists a difference."""
        return (
            outcome.kind in self.kinds
            and library in self.libraries
            and re.fullmatch(self.names, call.name) is not None
            and re.search(self.detail, outcome.detail) is not None
            and re.search(self.code, call.code) is not None
        )


def _of(values: object, dtype: str) -> dict[str, Operand]:
    return {"x": Operand(numpy.array(values, dtype))}


ROWS = (
    Row(
        "`reduce` and `reduceat` of functions that are not associative, such as `arctan2` and `power`",
        "NumPy's vector loops apply the function to other operands (numpy 2.4); here it is applied from left to right",
        ("values",),
        r"(atan2|arctan2|pow|power|float_power)"
        r"\.(reduce|reduceat|accumulate)",
        "np.arctan2.reduce(x)",
        _of([3, -1, -1, -3], "int64"),
    ),
    Row(
        "`reciprocal` of the integer 0",
        "NumPy does not define it; here it is 0",
        ("values",),
        "reciprocal",
        "np.reciprocal(x)",
        _of([0, 1], "int64"),
        detail="^0 at",
    ),
    Row(
        "`floor_divide` and `divmod` of an infinity",
        "infinity as in the array API standard; NumPy gives NaN",
        ("values",),
        r"(floor_divide|divmod)(\..*)?",
        "np.floor_divide(x, 1)",
        _of([numpy.inf], "float32"),
        detail="inf at .*nan",
    ),
    Row(
        "the parts of complex results that are infinite or NaN",
        "libraries multiply complex numbers in other steps",
        ("values",),
        ".*",
        "np.power(x, 2)",
        _of([complex(1e308, 1e308)] * 4, "complex128"),
        libraries=("torch", "numpy", "jax", "jax-32", "dask"),
        detail=r"(inf|nan|e\+30\d).*j",
    ),
    Row(
        "steps of `accumulate` and `ptp` with `out=` of a wider dtype",
        "NumPy takes the steps in the dtype of out; here the result is cast",
        ("values", "operands"),
        r"ptp|.*\.(accumulate|reduce|reduceat)",
        "np.ptp(x, out=out)",
        {**_of([-6.2940001, 3.7530000, 0.1], "float32"), "out": Operand(numpy.zeros(()))},
        code="out=",
    ),
    Row(
        "`polyfit` and `multi_dot` of operands in single and double precision",
        "NumPy rounds some steps to single precision; here all are in double precision",
        ("values",),
        r"polyfit|linalg\.multi_dot",
        "np.polyfit(x, y, 0, w=[0.7, 1.3, 1.1])",
        {**_of([1.1, 2.3, 3.4], "float32"), "y": Operand(numpy.array([0.1, 0.7, -0.3], "float32"))},
    ),
    Row(
        "`out=` of `hfft`, `irfft2` and `irfftn`",
        "NumPy does not always write it (numpy 2.4); here it is always written",
        ("operands", "values"),
        r"fft\.(hfft|irfft2|irfftn)",
        "np.fft.hfft(x, out=out)",
        {**_of([1.0, 2, 3], "float64"), "out": Operand(numpy.zeros(4))},
        code="out=",
    ),
    Row(
        "`out=` of transforms with `s=`",
        "NumPy needs one that fits every step; here it must fit the result",
        ("NumPy raises",),
        r"fft\..*",
        "np.fft.fft2(x, s=(2, 2), out=out)",
        {**_of(numpy.ones((3, 4)), "float64"), "out": Operand(numpy.zeros((2, 2), "complex128"))},
        detail="remapped shapes",
    ),
    Row(
        "the signs of zeros",
        "libraries keep them differently, above all in remainders, extrema and sums",
        ("signs of zeros",),
        ".*",
        "np.remainder(x, -1.0)",
        _of([1.0], "float64"),
        libraries=("torch", "numpy", "jax", "jax-32", "dask"),
    ),
    Row(
        "lists where NumPy's code takes only arrays",
        "they are converted, as elsewhere in NumPy",
        ("NumPy raises",),
        r"hsplit|vsplit|dsplit|split|array_split|rollaxis|take_along_axis|swapaxes|.*",
        "np.hsplit([1, 2, 3], [1])",
        detail=r"'(list|int|float|complex|tuple|bool)' object has no attribute|iteration over a 0-d",
    ),
    Row(
        "`isdtype` and `promote_types` of Python's classes and of None",
        "NumPy takes dtypes only; here all notations of dtypes serve",
        ("NumPy raises",),
        "isdtype|promote_types|issubdtype|result_type|can_cast",
        'np.isdtype(int, "integral")',
        detail="TypeError",
    ),
    Row(
        "an axis of a 0-d array",
        "NumPy's functions differ in whether they take the axes 0 and -1; here reductions take them",
        ("NumPy raises", "error without advice"),
        ".*",
        "np.nanmean(x, axis=-1)",
        _of(1, "int64"),
        detail=r"out of bounds for (array of|axis|array) .*dimension 0|expected 2, got 0|non-scalar",
    ),
    Row(
        "NaN as an integer, in `insert` and initial values",
        "NumPy raises for Python's NaN alone; here it is cast, with an undefined result as any other NaN",
        ("NumPy raises",),
        "insert|full_like|full|put|place",
        "np.insert(x, 0, nan)",
        _of([1, 2], "int64"),
        detail="cannot convert float",
    ),
    Row(
        "`out=` of another dtype in functions that select or search",
        "NumPy asks for a safe cast; here casts of the same kind serve",
        ("NumPy raises",),
        "argmax|argmin|nanargmax|nanargmin|compress|take|choose|.*",
        "np.argmin(x, out=out)",
        {**_of([3, 1], "int64"), "out": Operand(numpy.zeros(()))},
        libraries=("numpy", "torch"),
        detail="according to the rule 'safe'|output array is not acceptable",
        code="out=",
    ),
    Row(
        "`out=` in floating-point numbers for integer functions",
        "NumPy chooses the loop by out; here the result is cast to it",
        ("NumPy raises",),
        r".*\.(reduce|accumulate|reduceat)",
        "np.bitwise_and.reduce(x, out=out)",
        {**_of([3, 1], "int64"), "out": Operand(numpy.zeros(()))},
        libraries=("numpy", "torch"),
        detail="not supported for the input types",
        code="out=",
    ),
    Row(
        "`dtype=` of integers in `cov` and `corrcoef`",
        "NumPy raises in a step; here the operands are cast",
        ("NumPy raises",),
        "cov|corrcoef",
        "np.cov(x, dtype=np.int32)",
        _of([[1, 2], [3, 5]], "int64"),
        detail="Cannot cast ufunc",
    ),
    Row(
        "`asarray(x, order=..., copy=False)`",
        "the order is the library's own where no copy is allowed",
        ("NumPy raises",),
        "asarray|asanyarray|array|nan_to_num",
        "np.asarray(x, order='C', copy=False)",
        {"x": Operand(numpy.ones((3, 4)), "transposed")},
        detail="Unable to avoid copy",
    ),
    Row(
        "sums and differences of booleans in `trapezoid` and `gradient`",
        "here they are numbers; NumPy takes the steps in booleans, or raises",
        ("NumPy raises", "values"),
        "gradient|ediff1d|diff|trapezoid|interp|unwrap",
        "np.gradient(x)",
        _of([True, False, True], "bool"),
        libraries=NOT_NUMPY,
        detail="boolean subtract|at .*NumPy",
    ),
    Row(
        "half precision in `linalg`",
        "NumPy refuses it; here it is computed where the library can",
        ("NumPy raises",),
        r"linalg\..*|polyfit",
        "np.linalg.lstsq(x, y)",
        {**_of([[1, 2], [3, 5]], "float64"), "y": Operand(numpy.ones(2, "float16"))},
        libraries=NOT_NUMPY,
        detail="float16 is unsupported",
    ),
    Row(
        "singular and indefinite matrices on JAX and Dask",
        "their functions cannot read values and give NaN or infinities; test the result with `np.isfinite`",
        ("NumPy raises", "values"),
        r"linalg\..*",
        "np.linalg.cholesky(x)",
        _of([[-1.0]], "float64"),
        libraries=("jax", "jax-32", "dask"),
        detail="LinAlgError|nan|inf",
    ),
    Row(
        "values that NumPy refuses, in lazy arrays",
        "indices, exponents and edges in Dask arrays are not read before the computation",
        ("NumPy raises",),
        "choose|ravel_multi_index|unravel_index|take|put|pow|power|histogram|bincount|.*",
        "np.choose(x, [x, x])",
        _of([-1, 0], "int64"),
        libraries=("dask",),
        detail="invalid entry|out of bounds|negative integer powers|monoton|range|infs or NaNs|non-negative|index",
    ),
    Row(
        "results whose dtype or shape depends on values, of lazy arrays",
        "`eig` is complex, `lstsq` gives all sums of squares, and its rank is an int64 array on Dask",
        ("dtype", "shape", "structure"),
        r"linalg\.(eig|eigvals|lstsq)|real_if_close|trim_zeros",
        "np.linalg.eigvals(x)",
        _of([[1.0, 0.0], [0.0, 2.0]], "float64"),
        libraries=("dask",),
    ),
    Row(
        "arrays of no elements next to others in `concatenate`",
        "Dask ignores them; NumPy compares all their extents",
        ("NumPy raises",),
        "concat|concatenate|vstack|hstack|dstack|row_stack|column_stack|stack|block|append|[cr]_",
        "np.concatenate([x, y])",
        {"x": Operand(numpy.ones((1, 1))), "y": Operand(numpy.zeros((1, 0)))},
        libraries=("dask",),
        detail="must match exactly",
    ),
    Row(
        "casts of floating-point numbers to integers that cannot hold them",
        "they are the library's own: wrapped, limited or undefined",
        ("values", "operands"),
        ".*",
        "np.uint8(x)",
        _of([-3.0, 300.0], "float32"),
        libraries=("jax", "torch", "jax-32", "dask", "numpy"),
        code=(
            r"^np\.(u?int\w*|u?byte|u?short|u?long\w*|as\w*|array|require|full(_like)?|copyto|put\w*|place|insert|from\w*)"
            r"\(|^np\.fill_diagonal|dtype=(np\.)?'?(u?int|i2)|, (np\.)?'?(u?int|i2)|'unsafe'|out="
        ),
    ),
    Row(
        "operators in your own code",
        "`x > 1` and `i * 2.5` are the library's own, with its dtypes and its errors",
        ("dtype", "raw error", "values", "NumPy raises"),
        "fromfunction|piecewise|select",
        "np.fromfunction(lambda i: i * 2.5, (3,), dtype=int)",
        libraries=("torch", "jax", "jax-32", "dask", "numpy"),
        code="lambda|>|<",
    ),
    Row(
        "casting rules of `select` and `piecewise`",
        "NumPy refuses defaults that cannot be cast; here the common dtype serves",
        ("NumPy raises", "dtype"),
        "select|piecewise|choose|ediff1d",
        "np.select([x > 1, x < 1], [x, 1], 7)",
        _of([5, 1], "uint64"),
        detail="Cannot cast|TypeError|float",
    ),
    Row(
        "`average` with weights whose sum is 0",
        "NaN; NumPy reads the sum and raises",
        ("NumPy raises",),
        "average",
        "np.average(x, weights=[0, 0])",
        _of([1, 2], "int64"),
        detail="Weights sum to zero",
    ),
    Row(
        "NaN as the initial value of `nanmin` and `nanmax`",
        "the result is NaN, as with other reductions; NumPy ignores it",
        ("values",),
        "nanmin|nanmax",
        "np.nanmin(x, initial=nan)",
        _of([1.0, 2.0], "float64"),
        detail="^nan",
    ),
    Row(
        "Fourier transforms of infinities, NaN and numbers near the largest",
        "libraries add in another order, so other elements are infinite or NaN",
        ("values",),
        r"fft\..*",
        "np.fft.irfft(x)",
        _of([[-9.2, numpy.nan, 0.0, 1.0], [3.9, 0.0, 1.0, -4.0], [7.7, 2.8, -numpy.inf, 1.4]], "float64"),
        libraries=("torch", "jax", "jax-32", "numpy", "dask"),
        detail=r"inf|nan|e\+3\d",
    ),
    Row(
        "remainders on PyTorch where the quotient is beyond the largest number",
        "`torch.remainder` gives NaN",
        ("values",),
        r"(mod|remainder|divmod|fmod|floor_divide)(\..*)?",
        "np.remainder(x, 1e-3)",
        _of([1e308] * 8, "float64"),
        libraries=("torch",),
        detail=r"^-?(nan|inf)",
    ),
    Row(
        "ranges of booleans",
        "NumPy refuses more than two; here they are cast",
        ("NumPy raises",),
        "arange|indices|fromfunction",
        "np.arange(4, dtype=bool)",
        libraries=NOT_NUMPY,
        detail="supported for booleans",
    ),
    Row(
        "weights of `histogram` that are NaN or infinite",
        "they are in their bin alone; NumPy subtracts partial sums, so other bins are NaN too",
        ("values",),
        "histogram",
        "np.histogram(x, [0, 1, 2, 3], weights=y)",
        {**_of([0.5, 1.5, 2.5], "float64"), "y": Operand(numpy.array([numpy.inf, 1.0, 2.0]))},
        libraries=("torch", "jax", "jax-32", "dask"),
        detail="nan",
    ),
    Row(
        "the dtype of `pinv` of no elements, of `quantile` with q=0 or 1, of `cov` with dtype= and weights",
        "floating-point as for other arguments; NumPy's depends on the case",
        ("dtype", "NumPy raises"),
        r"linalg\.pinv|(nan)?(quantile|percentile)|cov",
        "np.linalg.pinv(x)",
        _of(numpy.zeros((0, 3)), "int64"),
        detail="^float|not inexact",
    ),
    Row(
        "quantiles of no elements",
        "NaN in the shape of the quantiles; NumPy's shape differs or it raises",
        ("shape", "NumPy raises", "values", "error without advice"),
        "(nan)?(percentile|quantile|median)",
        "np.nanpercentile(x, [[10, 20], [30, 40]])",
        _of(numpy.zeros((0, 4)), "float32"),
    ),
)
"""The rows, at most 40."""


def row_of(call: Call, library: str, outcome: Outcome) -> Row | None:
    """The row that lists a difference."""
    return next((row for row in ROWS if row.lists(call, library, outcome)), None)
