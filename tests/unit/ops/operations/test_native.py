"""Native kernels: one C++ source serves NumPy, PyTorch and JAX; errors and fallbacks if it cannot be built."""

import importlib.util
import re
from itertools import count

import cloudpickle
import dask.array as da
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import xarrayops as xo
from xarrayops._system import compiler
from xarrayops.errors import BuildError
from xarrayops.testing import check_operation

pytest.importorskip("jax_tvm_ffi")
if compiler.find(compiler.CPP) is None:
    pytest.skip("no C++ compiler is installed", allow_module_level=True)

SOURCE = """
#include <cmath>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
using tvm::ffi::TensorView;

template <typename T>
void rows(TensorView x, TensorView weight, double eps, TensorView out) {
  auto a = static_cast<const T*>(x.data_ptr()), w = static_cast<const T*>(weight.data_ptr());
  auto y = static_cast<T*>(out.data_ptr());
  int64_t n = weight.size(0), count = n ? x.numel() / n : 0;
  for (int64_t r = 0; r < count; ++r, a += n, y += n) {
    double sum = 0;
    for (int64_t j = 0; j < n; ++j) sum += double(a[j]) * a[j];
    for (int64_t j = 0; j < n; ++j) y[j] = T(a[j] * double(w[j]) / std::sqrt(sum / n + eps));
  }
}

void rms_norm(TensorView x, TensorView weight, double eps, TensorView out) {
  x.dtype().bits == 32 ? rows<float>(x, weight, eps, out) : rows<double>(x, weight, eps, out);
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(rms_norm, rms_norm);
"""
OTHERS = """
#include <string>
const double* in(TensorView x) { return static_cast<const double*>(x.data_ptr()); }
double* into(TensorView x) { return static_cast<double*>(x.data_ptr()); }

void twice(TensorView x, TensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) into(out)[i] = 2 * in(x)[i];
}
void copied(TensorView x, TensorView out) {
  for (int64_t i = 0; i < x.numel() * x.dtype().bits / 64; ++i) into(out)[i] = in(x)[i];
}
void options(TensorView x, bool flag, int64_t number, double factor, std::string name, TensorView out) {
  into(out)[0] = flag + number * 10 + factor;
  for (char c : name) into(out)[0] += c;
}
void totals(TensorView x, TensorView weight, TensorView total, TensorView largest) {
  into(total)[0] = 0;
  for (int64_t i = 0; i < x.numel(); ++i) into(total)[0] += in(x)[i] * in(weight)[i];
  into(largest)[0] = in(x)[0];
  for (int64_t i = 0; i < x.numel(); ++i) into(largest)[0] = std::fmax(into(largest)[0], in(x)[i]);
}
void fails(TensorView x, TensorView out) { TVM_FFI_THROW(ValueError) << "the matrix is singular"; }
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, twice);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(copied, copied);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(options, options);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(totals, totals);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fails, fails);
"""
SOURCES = {"kernels.cc": SOURCE + OTHERS}
"""One file with all functions, so that it is built once."""
EVERYWHERE = ("numpy", "torch", "jax", "cupy")
FLOATS = ("float32", "float64")
RNG = np.random.default_rng(0)
X, W = RNG.standard_normal((4, 6)), RNG.standard_normal(6)
_numbers = count()


def reference(x, weight, *, eps: float = 1e-6):
    return x * weight / xo.sqrt(xo.mean(x * x, axis=-1, keepdims=True) + eps)


def oracle(x, weight, eps=1e-6):
    return x * weight / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def operation(function, blockwise=None):
    return xo.operation(f"tests::native{next(_numbers)}", blockwise=blockwise)(function)


def native(entry, function, serves=("numpy",), sources=SOURCES, **declared):
    made = operation(function)
    made.native("cpp", sources=sources, entry=entry, serves=serves, **declared)
    return made


def twice(x):
    return x + x


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache for this module, in which the first test of a source builds it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XARRAYOPS_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def norm(cache):
    made = operation(reference, blockwise="(i),(i)->(i)")
    made.native("cpp", sources=SOURCES, entry="rms_norm", serves=EVERYWHERE, dtypes=FLOATS)
    return made


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("make", [np.asarray, torch.asarray, jnp.asarray], ids=("numpy", "torch", "jax"))
def test_one_source_serves_three_libraries(norm, make, dtype):
    with jax.enable_x64(True):
        x, weight = (make(each.astype(dtype)) for each in (X, W))
        assert xo.explain(norm, x, weight).chosen == f"{xo.backend(x).name}:cpp"
        found = norm(x, weight, eps=0.5)
        assert (type(found), found.dtype) == (type(x), x.dtype)
        np.testing.assert_allclose(np.asarray(found), oracle(X, W, 0.5), rtol=1e-5 if dtype == "float32" else 1e-14)
        assert norm(x[:0], weight).shape == (0, 6)


def test_a_pickled_operation_keeps_its_native_kernel(cache):
    made = native("twice", lambda x: x + x)
    x = np.arange(3.0)
    assert made(x).tolist() == [0.0, 2.0, 4.0]
    other = cloudpickle.loads(cloudpickle.dumps(made))
    assert xo.explain(other, x).chosen == "numpy:cpp"
    assert other(x).tolist() == [0.0, 2.0, 4.0]


def test_the_source_is_short():
    assert len(SOURCE.strip().splitlines()) <= 40


def test_it_is_an_ffi_call_in_functions_that_jax_transforms(norm):
    with jax.enable_x64(True):
        x, weight = jnp.asarray(X), jnp.asarray(W)
        text = jax.jit(lambda a, b: norm(a, b, eps=0.5)).lower(x, weight).as_text()
        assert "custom_call" in text
        np.testing.assert_allclose(jax.jit(norm)(x, weight), oracle(X, W), rtol=1e-12)
        for transform in (jax.grad, jax.hessian):
            of_kernel = transform(lambda a: jnp.sum(jnp.cos(norm(a, weight))))(x)
            np.testing.assert_allclose(of_kernel, transform(lambda a: jnp.sum(jnp.cos(reference(a, weight))))(x))
        np.testing.assert_allclose(jax.vmap(norm, in_axes=(0, None))(x, weight), oracle(X, W), rtol=1e-12)


def test_torch_transformations(norm):
    x, weight = torch.tensor(X, requires_grad=True), torch.nn.Parameter(torch.tensor(W))
    assert torch.autograd.gradcheck(norm, (x, weight))
    compiled = torch.compile(norm, fullgraph=True, backend="aot_eager")
    np.testing.assert_allclose(compiled(x, weight).detach().numpy(), oracle(X, W), rtol=1e-12)


def test_dask_runs_it_on_each_block(norm):
    x, weight = da.from_array(X, chunks=(2, 3)), da.from_array(W, chunks=3)
    np.testing.assert_allclose(norm(x, weight).compute(), oracle(X, W), rtol=1e-12)


def test_read_only_memory_and_what_is_passed_over(norm):
    x = X.copy()
    x.flags.writeable = False
    assert xo.explain(norm, x, W).chosen == "numpy:cpp"
    np.testing.assert_allclose(norm(x, W), oracle(X, W), rtol=1e-14)
    memory = np.zeros(X.nbytes + 1, np.uint8)
    unaligned = memory[1:].view(np.float64).reshape(X.shape)
    unaligned[...] = X
    shifted = np.empty(X.size + 1)[1:].reshape(X.shape)
    shifted[...] = X
    for each, reason in (
        (X[:, ::-1], "x is not C-contiguous"),
        (unaligned, "x is not aligned to 8 bytes"),
        (X.astype(np.float16), "x is float16; the kernel takes float32, float64"),
        (shifted, ""),
    ):
        weight = W[::-1].copy().astype(each.dtype)
        explained = xo.explain(norm, each, weight)
        assert explained.candidates[0].reason == reason
        assert (explained.chosen == "numpy:cpp") == (not reason)
        wanted = reference(each.copy(), weight)
        np.testing.assert_allclose(norm(each, weight), wanted, rtol=1e-3 if each.dtype == np.float16 else 1e-14)


def test_a_tensor_with_lazy_conjugation_or_negation_is_passed_over():
    made = native("copied", lambda x: x + 0, ("torch",))
    x = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex128)
    for lazy, values in ((x.conj(), [1 - 2j, 3 + 1j]), (torch._neg_view(x.real.contiguous()), [-1, -3])):
        assert made(lazy).tolist() == values
        assert xo.explain(made, lazy).chosen == "torch:reference"
        assert made(lazy.resolve_conj().resolve_neg()).tolist() == values
        assert xo.explain(made, lazy.resolve_conj().resolve_neg()).chosen == "torch:cpp"


def test_dtypes_that_numpy_does_not_lend_are_passed_over():
    import ml_dtypes

    made = native("twice", twice)
    x = np.ones(2, ml_dtypes.bfloat16)
    for _ in range(2):
        assert made(x).tolist() == [2, 2]
    assert "does not export arrays of bfloat16" in xo.explain(made, x).candidates[0].reason
    assert made(np.ones(2)).tolist() == [2, 2]
    assert xo.explain(made, np.ones(2)).chosen == "numpy:cpp"


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, jnp.asarray], ids=("numpy", "torch", "jax"))
def test_options_of_each_type_and_others(make):
    def total(x, *, flag: bool = True, number: int = 2, factor: float = 0.1, name: str = "ab"):
        return xo.full_like(x, float(flag) + 10 * number + factor + sum(map(ord, name)))

    made = native("options", total, ("numpy", "torch", "jax"))
    with jax.enable_x64(True):
        x = make(np.zeros(1))
        for options in ({}, {"flag": False, "number": -3, "factor": 2.5, "name": ""}, {"name": "a\n", "factor": 2}):
            assert xo.explain(made, x, **options).chosen.endswith(":cpp")
            assert float(made(x, **options)[0]) == total(np.zeros(1), **options)[0]
        for factor in (0.0, -0.0):
            found = float(made(x, factor=factor, name="", flag=False, number=0)[0])
            assert found == 0
        explained = xo.explain(made, x, name=None)
        assert explained.candidates[0].reason == "option name is a NoneType; the kernel takes bool, int, float, str"


def test_a_call_with_an_option_of_another_type_is_passed_over():
    made = native("options", lambda x, *, name: x + len(name))
    assert made(np.zeros(1), name=("a", "b")).tolist() == [2]


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, jnp.asarray], ids=("numpy", "torch", "jax"))
def test_several_results_of_no_dimensions_and_omitted_arrays(make):
    def totals(x, weight=None):
        return xo.sum(x if weight is None else x * weight), xo.max(x)

    made = native("totals", totals, ("numpy", "torch", "jax"))
    with jax.enable_x64(True):
        x = make(X)
        assert xo.explain(made, x, x).chosen.endswith(":cpp")
        found = made(x, x)
        assert [type(each) for each in found] == [type(each) for each in totals(x, x)]
        np.testing.assert_allclose([float(each) for each in found], [(X * X).sum(), X.max()])
        explained = xo.explain(made, x)
        assert explained.candidates[0].reason == "weight is omitted; the kernel takes all arrays"
        np.testing.assert_allclose(float(made(x)[0]), X.sum())


def test_an_error_of_the_kernel_reaches_the_caller():
    with pytest.raises(ValueError, match="the matrix is singular"):
        native("fails", lambda x: x + 0)(np.ones(2))


WRONG = {"wrong.cc": "\nint run() { return no_such_function(); }\n"}


def test_a_build_error_has_the_command_and_the_message():
    made = native("run", twice, sources=WRONG, flags=["-O1"])
    for _ in range(2):
        with pytest.raises(BuildError) as found:
            made.build()
    message = str(found.value)
    assert f"{made.operation.name}, native kernel cpp: the compiler failed with exit status 1" in message
    assert "wrong.cc:2" in message
    assert "no_such_function" in message
    assert f"$ {compiler.find(compiler.CPP)[0]} wrong.cc -std=c++17" in message


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, jnp.asarray], ids=("numpy", "torch", "jax"))
def test_another_kernel_serves_if_the_build_fails(make):
    """A source for newer devices or compilers must not break a program that its reference can serve."""
    made = native("run", twice, ("numpy", "torch", "jax"), sources=WRONG)
    x = make(np.ones(2, np.float32))
    with pytest.warns(
        UserWarning, match=r"(?s)another kernel serves.*native kernel cpp: the compiler.*no_such_function"
    ):
        assert made(x).tolist() == [2, 2]
    assert made(x).tolist() == [2, 2]  # without a warning, which would be an error
    explained = xo.explain(made, x)
    assert explained.chosen.endswith(":reference")
    assert explained.candidates[0].reason.endswith("native kernel cpp: the compiler failed with exit status 1")


def test_an_entry_that_is_not_exported():
    made = native("other", twice)
    with pytest.raises(BuildError, match=r"export no function 'other'. Instead: TVM_FFI_DLL_EXPORT_TYPED_FUNC\(other"):
        made.build()


def test_without_a_compiler_the_reference_serves(monkeypatch):
    made = native("twice", twice, ("numpy", "torch"))
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "find", lambda language: None)
        assert made(np.ones(2)).tolist() == [2, 2]
        assert made(torch.ones(2)).tolist() == [2, 2]
        explained = xo.explain(made, np.ones(2))
        assert explained.chosen == "numpy:reference"
        assert explained.candidates[0].reason.startswith("no C++ compiler was found: neither $CXX nor c++")
        with pytest.raises(BuildError, match=r"no C\+\+ compiler was found.*Instead: install one, or set CXX"):
            made.build()


@pytest.mark.parametrize(
    ("package", "extra", "refused"), [("tvm_ffi", "native", ("numpy", "jax")), ("jax_tvm_ffi", "native-jax", ("jax",))]
)
def test_without_a_package_the_reference_serves(monkeypatch, package, extra, refused):
    made = native("twice", twice, ("numpy", "jax"))
    find_spec = importlib.util.find_spec
    absent = lambda name, *package_of: None if name == package else find_spec(name, *package_of)
    monkeypatch.setattr(importlib.util, "find_spec", absent)
    monkeypatch.setattr("xarrayops_backends.jax._operations.find_spec", absent)
    with jax.enable_x64(True):
        for x in (np.ones(2), jnp.ones(2)):
            assert made(x).tolist() == [2, 2]
            explained = xo.explain(made, x)
            name = xo.backend(x).name
            assert (explained.chosen == f"{name}:reference") == (name in refused)
            if name in refused:
                assert re.search(
                    rf"tvm-ffi is not installed: pip install .*\[{extra}\]", explained.candidates[0].reason
                )


def test_sources_are_files_beside_the_reference(tmp_path):
    (tmp_path / "kernels.cc").write_text(SOURCES["kernels.cc"])
    (tmp_path / "other.cc").write_text('#include "twice.h"\n')
    (tmp_path / "twice.h").write_text("// a header\n")
    module = tmp_path / "made.py"
    module.write_text("def double(x):\n    return x + x\n")
    scope = {}
    exec(compile(module.read_text(), str(module), "exec"), scope)
    assert native("twice", scope["double"], sources="kernels.cc")(np.ones(2)).tolist() == [2, 2]
    made = native("twice", scope["double"], sources=["other.cc"])
    with pytest.raises(BuildError, match=r"twice\.h"):  # it is not among the sources, so a change would be missed
        made.build()


def test_wrong_declarations():
    made = operation(reference)
    declared = {"entry": "run", "serves": ["numpy"]}
    with pytest.raises(ValueError, match="has a name without a library, not 'numpy:cpp'"):
        made.native("numpy:cpp", sources={"a.cc": ""}, **declared)
    with pytest.raises(ValueError, match=r"end in .*, not a\.f90"):
        made.native("cpp", sources={"a.f90": ""}, **declared)
    with pytest.raises(ValueError, match=r"a\.h is not a source"):
        made.native("cpp", sources={"a.h": ""}, **declared)
    with pytest.raises(FileNotFoundError):
        made.native("cpp", sources="missing.cc", **declared)
    with pytest.raises(ValueError, match=r'serves is a sequence of libraries, such as \["numpy"\]'):
        made.native("cpp", sources={"a.cc": ""}, entry="run", serves="numpy")
    with pytest.raises(xo.errors.BackendNotFound):
        made.native("cpp", sources={"a.cc": ""}, entry="run", serves=["nolibrary"])
    with pytest.raises(ValueError, match="aligned is a number of bytes"):
        made.native("cpp", sources={"a.cc": ""}, aligned=0, **declared)


def test_check_operation_accepts_it(norm):
    samples = [(X.astype(dtype), W.astype(dtype), {"eps": 0.5}) for dtype in FLOATS]
    report = check_operation(norm, samples, libraries=["numpy", "torch", "jax"])
    assert report.ok
    assert min(report.calls[f"{library}:cpp"] for library in ("numpy", "torch", "jax")) > 10
