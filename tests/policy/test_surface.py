"""The public surface has all functions of the standard, is documented, and no module shadows a public name."""

import importlib
import inspect
import json
import re
import subprocess
import sys
from operator import attrgetter
from typing import get_type_hints

import xarrayops as xo
from xarrayops import errors
from xarrayops._generic.hooks import HOOKS
from xarrayops._ops import explain
from xarrayops._surface import CREATION, EXTRA, OWN, SURFACE, TABLES

STANDARD = {
    "creation": "arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like tril "
    "triu zeros zeros_like",
    "dtypes": "astype can_cast finfo iinfo isdtype result_type",
    "trigonometry": "acos acosh asin asinh atan atan2 atanh cos cosh sin sinh tan tanh",
    "arithmetic": "abs add ceil clip copysign divide floor floor_divide hypot maximum minimum multiply negative "
    "nextafter positive pow reciprocal remainder round sign signbit sqrt square subtract trunc",
    "exponentials": "exp expm1 log log1p log2 log10 logaddexp",
    "bits": "bitwise_and bitwise_invert bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor",
    "comparison": "equal greater greater_equal isfinite isinf isnan less less_equal not_equal",
    "logic": "logical_and logical_not logical_or logical_xor",
    "complex": "conj imag real",
    "indexing": "take take_along_axis",
    "products": "matmul matrix_transpose tensordot vecdot",
    "manipulation": "broadcast_arrays broadcast_shapes broadcast_to concat expand_dims flip moveaxis permute_dims "
    "repeat reshape roll squeeze stack tile unstack",
    "searching": "argmax argmin count_nonzero nonzero searchsorted where",
    "sets": "isin unique_all unique_counts unique_inverse unique_values",
    "sorting": "argsort sort",
    "statistics": "cumulative_prod cumulative_sum max mean min prod std sum var",
    "utilities": "all any diff",
}
LINALG = (
    "cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power matrix_rank "
    "matrix_transpose outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm"
)
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"
MAIN = [name for names in STANDARD.values() for name in names.split()]
ALIASES = {f"linalg.{name}" for name in STANDARD["products"].split()}
"""Functions of the main namespace that the standard repeats in linalg."""
STANDARD_VERBS = [*MAIN, *(f"linalg.{name}" for name in LINALG.split()), *(f"fft.{name}" for name in FFT.split())]
VERBS = {verb: explain.row_of(verb) for verb in TABLES}
MAIN_VERBS = {name for name in OWN if "." not in name}
SPARSE = {name.removeprefix("sparse.") for name in OWN if name.startswith("sparse.")}
RANDOM = {name.removeprefix("random.") for name in OWN if name.startswith("random.")}
BEYOND = [verb for verb in EXTRA if "." not in verb]
"""The functions of tools/extra.pyi at the top level."""
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")


def public(verb):
    return attrgetter(verb)(xo)


def test_the_lists_have_the_size_of_the_standard_2025_12():
    """The numbers of functions in the standard; they detect errors in the lists above."""
    assert (len(MAIN), len(set(MAIN)), len(LINALG.split()), len(FFT.split())) == (135, 135, 25, 14)


def test_every_function_of_the_standard_is_known():
    assert set(SURFACE) == set(STANDARD_VERBS) - ALIASES


def links_the_standard(verb):
    """Whether the documentation begins with a sentence, and links the page of the function in the standard."""
    page = re.escape(f"array_api.{verb.removeprefix('linalg.') if verb in ALIASES else verb}.html>")
    documentation = public(verb).__doc__
    linked = re.search(rf"<https://data-apis\.org/array-api/2025\.12/\w+/generated/{page}", documentation)
    return linked and documentation.strip().splitlines()[0].endswith(".")


def test_standard_functions_are_public_and_link_the_standard():
    assert [verb for verb in STANDARD_VERBS if not links_the_standard(verb)] == []


def differences(row):
    """What of a row of the table of verbs does not match the public function."""
    takes_like = "like" in inspect.signature(row.function).parameters
    module, _, _ = row.name.rpartition(".")
    matches = {
        "function": public(row.name) is row.function,
        "own hook": OWN.get(row.name, row.hook) == row.hook,
        "hook": row.hook is None or row.hook in HOOKS,
        "creates": row.creates == (row.name in CREATION) == takes_like,
        "results": all(public(f"{module}.{cls.__name__}".lstrip(".")) is cls for cls in row.results),
    }
    return [field for field, right in matches.items() if not right]


def test_rows_match_the_public_functions():
    found = {name: differences(row) for name, row in VERBS.items()}
    assert {name: fields for name, fields in found.items() if fields} == {}


def test_every_verb_beyond_the_standard_has_a_row():
    assert VERBS.keys() - set(STANDARD_VERBS) == OWN.keys()


def test_functions_under_numpys_names_have_a_summary_and_an_example():
    documentation = {verb: public(verb).__doc__ for verb in EXTRA}
    assert [v for v, text in documentation.items() if not text.strip().splitlines()[0].endswith((".", ":"))] == []
    assert [v for v, text in documentation.items() if ">>> " not in text] == []


def test_functions_under_numpys_names_are_loaded_when_they_are_needed():
    program = "import sys, xarrayops as xo; name = 'xarrayops.extra'; dir(xo); assert name not in sys.modules; xo.pad"
    program += "; assert sys.modules[name].pad is vars(xo)['pad']; assert 'quantile' not in vars(xo)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_functions_beyond_the_standard_have_a_summary():
    summaries = {verb: public(verb).__doc__.strip().splitlines()[0] for verb in OWN}
    assert {verb: summary for verb, summary in summaries.items() if len(summary) <= 20} == {}


def test_every_public_callable_has_a_docstring():
    names = [n for n, o in vars(xo).items() if not n.startswith("_") and callable(o)]
    assert set(names) >= {*MAIN_VERBS, *MAIN}
    assert not [n for n in names if not (getattr(xo, n).__doc__ or "").strip()]


DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float8_e4m3fn float8_e5m2 float32 float64 "
    "complex64 complex128"
)


def test_dir_lists_only_the_public_surface():
    importlib.import_module("xarrayops.plugin")
    results = {
        "Calibration",
        "Candidate",
        "Explanation",
        "ExportReport",
        "Exported",
        "Layout",
        "LossScale",
        "Quantized",
        "Sharding",
    }
    others = {*results, "__array_api_version__", "__version__"}
    modules = {"fft", "linalg", "random", "sparse"}
    names = {*MAIN, *MAIN_VERBS, *BEYOND, *CONSTANTS, *DTYPES.split(), *errors.__all__, *others, *modules}
    assert set(dir(xo)) == names
    assert dir(xo) == sorted(dir(xo))
    beyond = {verb.removeprefix("linalg.") for verb in EXTRA if verb.startswith("linalg.")}
    assert set(dir(xo.linalg)) == {*LINALG.split(), *beyond}
    assert set(dir(xo.fft)) == set(FFT.split())
    assert set(dir(xo.sparse)) == {"Parts", *SPARSE}
    assert set(dir(xo.random)) == {"Generator", *RANDOM}


def documents_its_options(verb):
    """Whether the documentation names ``like=``, ``backend=`` and ``device=`` where the function has them."""
    parameters, documentation = inspect.signature(public(verb)).parameters, public(verb).__doc__
    named = ("like", "backend", "device") if "backend" in parameters else ("device",) if "device" in parameters else ()
    return (
        all(f"``{name}=``" in documentation for name in named)
        and ("`xarrayops.set_default`" in documentation) == ("backend" in parameters)
        and (verb in CREATION) == ("backend" in parameters)
    )


def test_docstrings_document_like_backend_and_device():
    verbs = sorted({*STANDARD_VERBS} - {"asarray", "from_dlpack"})
    assert [verb for verb in verbs if not documents_its_options(verb)] == []


def test_types_of_parameters_and_results_can_be_resolved():
    for verb in (*STANDARD_VERBS, *EXTRA):
        assert get_type_hints(public(verb))


def test_constants_and_names_of_dtypes():
    import math

    assert (xo.e, xo.pi, xo.inf, xo.newaxis) == (math.e, math.pi, math.inf, None)
    assert math.isnan(xo.nan)
    for name in DTYPES.split():
        assert getattr(xo, name) == name
    assert xo.__array_api_version__ == "2025.12"


IMPORT_EVERYTHING = """
import importlib, json, pkgutil, sys
import xarrayops as xo
before = {name: id(value) for name, value in vars(xo).items()}
kept_alive = dict(vars(xo))
seen = []
for module in pkgutil.walk_packages(xo.__path__, "xarrayops."):
    if not module.name.endswith("__main__") and not module.name.endswith(".loops"):  # needs numba
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:  # the namespaces of libraries that are not installed
            assert module.name.startswith(f"xarrayops.compat.{error.name}"), error
        seen.append(module.name)
backends = [status.name for status in xo.backends() if status.backend]
changed = [name for name in before if id(vars(xo).get(name)) != before[name]]
families = [name.rpartition(".") for name in seen if name.startswith("xarrayops._ops.")]
shadowed = [n for package, _, n in families if getattr(sys.modules[package], n) is not sys.modules[f"{package}.{n}"]]
print(json.dumps({"changed": changed, "seen": seen, "backends": backends, "shadowed": shadowed}))
"""


def test_no_module_shadows_a_public_object():
    """A submodule becomes an attribute of its package: `xarrayops/convert.py` would replace the function."""
    run = subprocess.run([sys.executable, "-c", IMPORT_EVERYTHING], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert "xarrayops.standard" in found["seen"]
    assert "numpy" in found["backends"]
    assert found["changed"] == []
    assert found["shadowed"] == []


def test_a_submodule_can_shadow_a_function(tmp_path):
    package = tmp_path / "shadowed"
    package.mkdir()
    (package / "__init__.py").write_text("def convert(): ...")
    (package / "convert.py").write_text("")
    sys.path.insert(0, str(tmp_path))
    try:
        shadowed = importlib.import_module("shadowed")
        function = shadowed.convert
        importlib.import_module("shadowed.convert")
        assert shadowed.convert is not function
    finally:
        sys.path.remove(str(tmp_path))
