"""NumPy's names without a counterpart: the reason, and an alternative if there is one."""

HOST = (
    'values are read and written by NumPy: xo.asarray(numpy_array, like=x), and xo.convert(x, "numpy") before writing'
)
TEXT = "the text of an array is the library's own: str(x), or NumPy's of xo.convert(x, \"numpy\")"
CLASS = "arrays keep the class of their library; xo.array_namespace(x) raises for objects that are not arrays"
MATRIX = "matrices are arrays of two axes; xo.matmul(x, y) is their product"
MASKED = "masked arrays are not supported; use xo.where(mask, x, 0), or NaN and functions such as xo.nansum"
CHECKS = "tests take NumPy's arrays; xo.allclose and xo.array_equal compare those of any library"
LOOP = "it calls Python for each element or slice; write the function for whole arrays, with axis="
ITERATOR = "it is an iterator over elements in Python; write the computation for whole arrays"
DATES = "only NumPy has dates; use them before the conversion, or convert them to integers with x.astype(numpy.int64)"
STRINGS = "only NumPy has strings and objects as elements"
KINDS = 'it is a class of NumPy\'s dtypes; the test is xo.isdtype(x.dtype, "real floating") or "integral", "numeric"'
DTYPES = 'dtypes are names here: xo.float32 == "float32"; xo.finfo, xo.iinfo, xo.can_cast and xo.result_type take them'
WIDE = "only NumPy has this dtype; the widest are xo.float64 and xo.complex128"
ERRORS = "floating-point errors raise nothing and warn as the library does; test with xo.isfinite"
POLYNOMIALS = 'polynomials are not supported; use numpy.polynomial with xo.convert(x, "numpy")'
MODULE = "it is part of NumPy's own package, not a function of arrays"
SETTINGS = "it is a setting of NumPy alone"
BITS = "packed bits are not supported; xo.bitwise_and and xo.bitwise_right_shift select them"
RNG = "rng = xo.random.default_rng(0, like=x)"
NO_STATE = f"there is no global random state; {RNG} makes a generator"
DISTRIBUTION = (
    "xo.random has uniform, normal, exponential and beta numbers and integers; NumPy's generator has this "
    "distribution: xo.asarray(numpy_rng.gamma(2, 3, size), like=x)"
)
BUFFER = 'it is host memory; xo.convert(x, "numpy") gives an array that has it'
VIEWS = "arrays may have no memory of their own to change or reinterpret"

_GROUPS = {
    HOST: "fromfile fromregex fromstring genfromtxt load loadtxt memmap save savetxt savez savez_compressed DataSource",
    TEXT: "array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific "
    "get_printoptions printoptions set_printoptions set_string_function",
    CLASS: "ndarray",
    MATRIX: "asmatrix bmat mat matrix",
    MASKED: "ma",
    CHECKS: "testing",
    LOOP: "apply_along_axis apply_over_axes frompyfunc ufunc vectorize",
    ITERATOR: "flatiter ndenumerate ndindex nditer nested_iters",
    DATES: "busday_count busday_offset busdaycalendar datetime64 datetime_as_string datetime_data is_busday isnat "
    "timedelta64",
    STRINGS: "bytes_ char character chararray object object_ rec recarray record str str_ string_ strings unicode "
    "unicode_ void",
    KINDS: "complexfloating flexible floating generic inexact integer number signedinteger unsignedinteger issctype "
    "issubclass_ issubsctype obj2sctype",
    DTYPES: "ScalarType dtype dtypes cast find_common_type format_parser maximum_sctype min_scalar_type mintypecode "
    "sctype2char sctypeDict sctypes typecodes typename typeDict",
    WIDE: "clongdouble clongfloat complex256 complex192 float128 float96 longcomplex longdouble longfloat",
    ERRORS: "errstate geterr geterrcall geterrobj seterr seterrcall seterrobj",
    POLYNOMIALS: "poly poly1d polyadd polyder polydiv polyint polymul polynomial polysub roots",
    MODULE: "core ctypeslib emath exceptions f2py lib matlib test typing version add_docstring "
    "add_newdoc add_newdoc_ufunc asfarray byte_bounds compat compare_chararrays deprecate deprecate_with_doc disp "
    "fastCopyAndTranspose get_array_wrap get_include info little_endian lookfor nbytes recfromcsv recfromtxt "
    "safe_eval show_config show_runtime source tracemalloc_domain who",
    SETTINGS: "getbufsize setbufsize set_numeric_ops",
    BITS: "bitwise_count packbits unpackbits",
    "the order of the products is the library's choice": "einsum_path",
    "negative infinity is -xo.inf": "NINF",
    "positive infinity is xo.inf": "PINF",
    "the zeros of floating-point numbers are 0.0 and -0.0": "NZERO PZERO",
    "its shape is xo.broadcast_shapes(x.shape, y.shape)": "broadcast",
    "it is xo.sort(x, axis=0)": "msort",
    "not every library has it; e = xo.floor(xo.log2(xo.abs(x))) + 1 is the exponent": "frexp",
    'use NumPy\'s: xo.asarray(np.gcd(xo.convert(x, "numpy"), xo.convert(y, "numpy")), like=x)': "gcd",
    'use NumPy\'s: xo.asarray(np.lcm(xo.convert(x, "numpy"), xo.convert(y, "numpy")), like=x)': "lcm",
    "it is the search with xo.searchsorted for each axis, then xo.at(zeros)[i, j].add(1)": "histogram2d histogramdd",
    "not every library has Bessel functions": "i0",
    "it is xo.nonzero of a mask, such as xo.triu(xo.ones((3, 3), like=x))": "mask_indices",
    "it is xo.sort(xo.astype(z, xo.complex128))": "sort_complex",
}
WITHOUT = {name: reason for reason, names in _GROUPS.items() for name in names.split()}
"""The reasons by NumPy's name."""

LINALG = {
    "LinAlgError": "a singular matrix raises the error of its library, or none; test the result with xo.isfinite",
    "test": MODULE,
    "linalg": MODULE,
}
"""The reasons by the name in numpy.linalg."""

FFT = {"test": MODULE, "helper": MODULE}
"""The reasons by the name in numpy.fft."""

_RANDOM_GROUPS = {
    f"{RNG}, then rng.random((2, 3))": "rand random random_sample ranf sample",
    f"{RNG}, then low + (high - low) * rng.random((2, 3))": "uniform",
    f"{RNG}, then rng.normal(loc, scale, (2, 3))": "normal randn standard_normal",
    f"{RNG}, then xo.exp(rng.normal(mean, sigma, (2, 3)))": "lognormal",
    f"{RNG}, then mean + rng.normal(size=(5, 2)) @ xo.linalg.cholesky(cov, upper=True)": "multivariate_normal",
    f"{RNG}, then rng.beta(a, b, (2, 3))": "beta",
    f"{RNG}, then rng.exponential(scale, (2, 3))": "exponential standard_exponential",
    f"{RNG}, then rng.integers(low, high, (2, 3))": "randint random_integers",
    f"{RNG}, then rng.bits(8, dtype=xo.uint8)": "bytes",
    f"{RNG}, then rng.choice(x, 3)": "choice",
    f"{RNG}, then rng.permutation(x)": "permutation",
    f"{RNG}, then x = rng.shuffled(x), which is a new array": "shuffle",
    DISTRIBUTION: "binomial chisquare dirichlet f gamma geometric gumbel hypergeometric laplace logistic "
    "logseries multinomial negative_binomial noncentral_chisquare noncentral_f pareto poisson power rayleigh "
    "standard_cauchy standard_gamma standard_t triangular vonmises wald weibull zipf",
    NO_STATE: "RandomState get_bit_generator get_state mtrand seed set_bit_generator set_state",
    "independent generators are rng.spawn(n), independent keys xo.random.split(key, n)": "SeedSequence",
    "xo.random has one bit generator, Threefry-2x32-20, which every library can compute": "BitGenerator MT19937 PCG64 "
    "PCG64DXSM Philox SFC64 bit_generator",
    MODULE: "test",
}
RANDOM = {name: reason for reason, names in _RANDOM_GROUPS.items() for name in names.split()}
"""The reasons by the name in numpy.random."""
GENERATOR = {name: reason.removeprefix(f"{RNG}, then ") for name, reason in RANDOM.items()} | {
    "multivariate_hypergeometric": DISTRIBUTION,
    "permuted": "xo.take_along_axis(x, xo.argsort(rng.random(x.shape), axis=axis), axis=axis)",
}
"""The reasons by the name of the method of NumPy's generators."""

_METHOD_GROUPS = {
    BUFFER: "base ctypes data",
    VIEWS: "byteswap flags getfield setfield setflags view newbyteorder itemset",
    HOST: "dump dumps tofile tostring",
    "the attribute is the library's own; its name is equal to it: x.dtype == xo.float64": "dtype",
}
METHODS = {name: reason for reason, names in _METHOD_GROUPS.items() for name in names.split()}
"""The reasons by the name of the method or attribute of NumPy's arrays."""

PANDAS = {
    "cut": "xo.digitize(x, bins)",
    "dropna": "x[~xo.isnan(x)]",
    "fillna": "xo.where(xo.isnan(x), value, x)",
    "get_dummies": "xo.one_hot(x, n)",
    "groupby": "xo.segment_mean(x, ids, n), or xo.segment_sum, xo.segment_max, xo.segment_min",
    "qcut": "xo.digitize(x, xo.quantile(x, q))",
}
"""The equivalents of functions and methods of pandas."""

CONTAINERS = "containers keep the class of their library; xo.sparse.from_dense and xo.sparse.from_parts build them"
SPARSE = dict.fromkeys(
    (f"{form}_{kind}" for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil") for kind in ("array", "matrix")),
    CONTAINERS,
)
"""The reasons by the name in scipy.sparse."""
