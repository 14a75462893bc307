"""Why tests of other projects may fail."""

BY_NAME = "the test expects a path that array-api-extra selects by the name of the library's own module"
META = "PyTorch has no nonzero on its device without memory; array-api-extra avoids it in PyTorch's own namespace"
MODULE = "the test calls a function of the library's own module through the namespace"
DASK_BLOCKS = (
    "array-api-extra serves Dask by map_blocks of Dask's own module, which it recognises by its name; "
    "its other path needs shapes that Dask does not know"
)
VIEWS = "the test needs a view of NumPy's memory, and the shim converts the arrays"
ORDER = "the test needs the memory order of NumPy's result"
MESSAGE = "the test needs the message of the error; its type is the same"
INDEX_DTYPE = "PyTorch's COO tensors have int64 indices"

NUMPY_MODULE = {
    "objects": r"Python objects|no dtype '(O|object)'|class (str|NoneType|object|fractions)|'O' is not a dtype"
    r"|^TestNanFunctions_NumberTypes::.*-O\]|^TestIsscalar::|test_object_nonbool|test_error_in_equal_reduce",
    "dtypes that other libraries lack": r"no dtype '(g|G|[<>]|S|U|V|M|m|datetime|timedelta)|is not numeric"
    r"|is not a dtype of numbers|longdouble|FloatLimits|no dtype 'i1,i8,i8'|^TestTypes::.*metadata"
    r"|^TestDiff::test_times|test_clip_property",
    "subclasses, masked arrays and classes of the test": r"np\.matrix|masked array|cannot convert a value of class"
    r"|subok=|class 'numpy\.ndarray'|::test_subclass|physical_quantities|preserve_subtype|^Test_I0::test_non_array"
    r"|^TestSpecialMethods::|test_outer_bad_subclass|^TestKeepdims::test_raise|^TestAdd_newdoc_ufunc",
    "warnings": r"DID NOT WARN|Got warnings|warnings emitted|divide by zero|test_tol_warnings|Percentile::test_empty",
    "arguments that are refused": r"^xarrayops\.errors\.Unsupported: np\.",
    "complex numbers have no order in the other libraries": r"complex numbers have no",
    "integers in functions of floating-point numbers give the default dtype": r"test_promotion_corner_cases"
    r"|test_correct_quantile_value",
    "Python integers that the dtype cannot hold raise OverflowError": r"does not fit into",
    "a function instead of the mode of pad": r"test_legacy_vector_functionality",
    "the memory order of the result, or flags of the memory": r"^TestLikeFuncs::|^TestRequire::test_require_each"
    r"|test_memmap_takes_fast_route|test_dtype_reference_leaks",
    "limits of NumPy's own implementation that ours does not have": r"TestRavelUnravelIndex::test_(empty|big)_indices"
    r"|test_isin_mixed_dtype",
    "numbers below the least normal number": r"test_denormal_numbers",
    "NumPy's scalars are weakly typed as tolerances": r"test_nep50_isclose",
    MESSAGE: r"Regex pattern did not match|does not match|cannot cast the result|At least one array has zero",
    "the error is a ValueError, and NumPy's is of another class": r"weights must have the shape|x1 must be a matrix",
}
"""Why NumPy's own tests may fail on xarrayops.numpy, with the pattern of the messages."""

REASONS: list[tuple[str, str, str, str]] = [
    ("array-api-extra", "any", r"^TestNUnique::test_delegates", BY_NAME),
    ("array-api-extra", "jax dask", r"^test_testing::test_lazy_xp_function\[", BY_NAME),
    ("array-api-extra", "dask", r"^TestMetaNamespace::test_basic", BY_NAME),
    ("array-api-extra", "numpy", r"^test_version::", "the package under test is a checkout and is not installed"),
    ("array-api-extra", "torch", r"^Test\w+::test_(device|array_on_device_with_scalar)\[torch", META),
    ("array-api-extra", "torch", r"^TestCapabilities::test_device", MODULE),
    ("array-api-extra", "torch", r"^TestDefaultDType::test_torch", MODULE),
    ("array-api-extra", "dask", r"^Test(ApplyWhere|IsClose)::", DASK_BLOCKS),
    (
        "array-api-extra",
        "dask",
        r"^test_at::test_(update_ops|copy_default|incompatible_dtype|no_inf_warnings)\[dask",
        DASK_BLOCKS,
    ),
    ("array-api-extra", "dask", r"^test_lazy::", DASK_BLOCKS),
    ("numpy-einsum", "any", r"^TestEinsumPath::test_path_type_input_invalid", "xo.einsum has no optimize"),
    ("numpy-einsum", "torch jax dask", r"^TestEinsum::test_einsum_views", VIEWS),
    ("numpy-einsum", "jax dask", r"^TestEinsum::test_output_order", ORDER),
    ("numpy-einsum", "torch dask", r"^TestEinsum::test_einsum_errors", MESSAGE),
    ("numpy-einsum", "torch", r"^TestEinsum::test_einsum_sums_uint64", "PyTorch does not promote uint64 and int64"),
    ("numpy-einsum", "dask", r"^TestEinsum::test_einsum_sums_float16", "the test needs the rounding of one sum"),
    *(("numpy-module", "any", pattern, why) for why, pattern in NUMPY_MODULE.items()),
    ("scipy-sparse", "any", r"::test_sum_invalid_params$", MESSAGE),
    ("scipy-sparse", "any", r"^TestCOO\w*::test_elementwise_multiply$", "ours keeps the format, SciPy converts to CSR"),
    ("scipy-sparse", "torch jax", r"::test_add_sub$", "PyTorch and JAX promote integers next to float32 to float32"),
    ("scipy-sparse", "torch", r"^TestDIA::test_tocoo_tocsr_tocsc_gh19245", INDEX_DTYPE),
]
"""(suite, libraries or "any", pattern of the test's name, reason)."""
