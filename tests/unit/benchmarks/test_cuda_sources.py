"""The inspections of the step cuda_sources of make compile-devices. The compilers themselves run in the step alone."""

import pytest

pytest.importorskip("tvm_ffi")
from benchmarks.compile_devices import cuda_sources
from xarrayops.plugin import device_random

PTX = """
\tld.global.nc.f32 \t%f1, [%rd1];
\tadd.rn.f32 \t%f2, %f1, 0f3F000000;
\tdiv.rn.f64 \t%fd2, %fd1, %fd0;
\tsetp.gt.f32 \t%p1, %f2, %f3;
\tselp.f32 \t%f4, %f2, %f3, %p1;
\tcvt.rn.f32.s32 \t%f5, %r1;
"""


@pytest.mark.parametrize(
    "operation", ["div.full.f32", "sqrt.approx.f32", "fma.rn.f32", "mul.f32", "add.rn.ftz.f32", "rcp.rn.f64"]
)
def test_operations_that_do_not_round_once_to_nearest_are_found(operation):
    assert cuda_sources._of_ptx(PTX) is None
    assert cuda_sources._of_ptx(f"{PTX}\t{operation} \t%f6, %f1, %f2;\n") == f"the PTX has {operation}"


@pytest.mark.parametrize(
    "line",
    [
        "%3 = fadd contract float %1, %2",
        "%3 = fdiv float %1, %2, !fpmath !4",
        "%3 = call float @llvm.fma.f32(float %0, float %1, float %2)",
    ],
)
def test_operations_of_llvm_that_may_be_changed_are_found(line):
    plain = "%3 = fadd float %1, %2\n%4 = fneg contract float %3\n%5 = call float @llvm.sqrt.f32(float %4)\n"
    assert cuda_sources._of_ir(plain, "xarrayops_draw:") is None
    assert "the code has" in cuda_sources._of_ir(f"{plain}{line}\n", "xarrayops_draw:")
    assert cuda_sources._of_ir(plain, "") == "the instructions have no kernel"


def test_the_bits_of_a_changed_source_differ(monkeypatch):
    draw = next(draw for draw in cuda_sources.DRAWS if draw.kind == "normal")
    monkeypatch.setattr(cuda_sources, "COUNT", 10_000)
    assert cuda_sources._different_bits(draw) is None
    text = device_random.source(draw.kind, draw.dtype).replace("return add(mul(x", "return mul(add(x")
    monkeypatch.setattr(device_random, "source", lambda *names: text)
    assert "of 10000 numbers differ" in cuda_sources._different_bits(draw)


def test_sources_of_docs_and_tests_are_found():
    found = cuda_sources.sources()
    assert any("CUDADeviceGuard" in text for name, text in found.items() if name.startswith("docs/"))
    assert any(name.startswith("tests/") for name in found)
