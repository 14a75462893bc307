"""Sources in CUDA and HIP: those of the docs and tests by nvcc, the one for random numbers by NVRTC and clang.

The code of random numbers is inspected for operations that do not round once to nearest, and the same source, compiled
for the CPU, gives the bits of NumPy's numbers.
"""

from __future__ import annotations

import ast
import ctypes
import re
import subprocess
from argparse import Namespace
from functools import cache
from importlib import metadata, util
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import tvm_ffi

from benchmarks.compile_devices import _report
from benchmarks.compile_devices._workers import Case, Record
from tests import cuda_on_cpu
from xarrayops._host.random import draws
from xarrayops._system import compiler
from xarrayops.plugin import device_random
from xarrayops.plugin.random import Draw

ROOT = _report.ROOT
PACKAGES = ("nvidia-cuda-nvcc", "nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "apache-tvm-ffi", "ziglang")
ARCHITECTURES = {"sm_80": "8.0", "sm_90a": "9.0", "sm_100": "10.0"}
COUNT = 10_000_000
"""The number of elements whose bits are compared."""
KEY = (0x243F6A88, 0x85A308D3)
DRAWS = (
    *(Draw(kind, dtype) for kind in ("uniform", "normal", "exponential") for dtype in ("float32", "float64")),
    Draw("normal", "float32", loc=-1.5, scale=0.3),
    *(Draw("bits", dtype) for dtype in ("uint8", "uint16", "uint32", "uint64")),
    Draw("integers", "int32", -7, 1000),
    Draw("integers", "int64", -(2**63), 2**64 - 5),
    Draw("integers", "uint64", 0, 2**64),
)
FUNCTIONS = {
    "uniform": "random.random",
    "bits": "random.Generator.bits",
    "keys": "random.split",
    **{kind: f"random.{kind}" for kind in ("normal", "exponential", "integers")},
}
"""The function of each kind of draw; keys of other functions are drawn by the same source."""
KINDS = tuple(dict.fromkeys((draw.kind, draw.dtype) for draw in (*DRAWS, device_random.KEYS)))
# A source that no architecture before 8.0 has instructions for; nvcc's default is an older one.
TENSOR_CORES = """
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda::wmma;
__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) {
  fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> x;
  fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> y;
  fragment<accumulator, 16, 16, 16, float> z;
  fill_fragment(z, 0.0f);
  load_matrix_sync(x, a, 16);
  load_matrix_sync(y, b, 16);
  mma_sync(z, x, y, z);
  store_matrix_sync(c, z, 16, mem_row_major);
}
"""


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    cases: list[Case] = [
        *({"operation": name, "device": each} for name in sources() for each in (*ARCHITECTURES, "no device")),
        *(
            {"operation": FUNCTIONS[kind], "dtype": dtype, "device": f"{each} by NVRTC {version}"}
            for version in ("12", "13")
            for each in ARCHITECTURES
            for kind, dtype in KINDS
        ),
        *({"operation": FUNCTIONS[kind], "dtype": dtype, "device": "gfx942 by clang"} for kind, dtype in KINDS),
        *({"operation": f"bits of {tuple(draw)}", "dtype": draw.dtype, "device": "cpu"} for draw in DRAWS),
    ]
    versions = {name: metadata.version(name) for name in PACKAGES}
    (nvcc,) = _package("nvidia", "cu13/bin/nvcc")
    with TemporaryDirectory() as folder:  # otherwise the user's cache of built kernels has them already
        environment = {"XARRAYOPS_CACHE": folder, "NVCC": str(nvcc)}
        targets = [*ARCHITECTURES, "gfx942"]
        return _report.run("cuda_sources", cases, versions, arguments, targets=targets, environment=environment)


def compiled(case: Case) -> Record:
    """Compile a case and check what came of it."""
    operation, device, found = case["operation"], case["device"], {}
    if device == "cpu":
        found["numbers"] = COUNT
        reason = _different_bits(next(draw for draw in DRAWS if operation == f"bits of {tuple(draw)}"))
    elif " by " in device:
        source = device_random.source(next(kind for kind in FUNCTIONS if FUNCTIONS[kind] == operation), case["dtype"])
        target, _, version = device.partition(" by NVRTC ")
        reason = _of_ptx(ptx(source, target, version)) if version else _of_ir(*_by_clang(source))
    else:
        reason = _by_nvcc(sources()[operation], [ARCHITECTURES[device]] if device in ARCHITECTURES else [])
    return {"state": "failed", "reason": reason, **found} if reason else {"state": "compiled", **found}


@cache
def sources() -> dict[str, str]:
    """The CUDA sources of docs and tests, by the place where they are."""
    found = {"bfloat16 on tensor cores": TENSOR_CORES}
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for k, text in enumerate(re.findall(r"^```cuda\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)):
            found[f"{path.relative_to(ROOT)} {k}"] = text
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "__global__" in node.value:
                found[f"{path.relative_to(ROOT)} {node.lineno}"] = node.value
    for path in sorted(path for folder in ("tests", "examples") for path in (ROOT / folder).rglob("*.cu")):
        found[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
    return found


def _by_nvcc(source: str, capabilities: list[str]) -> str | None:
    """Why a source has no library, built as for a user's operation; None if it has one whose functions can be found."""
    folders = dict.fromkeys((tvm_ffi.libinfo.find_include_path(), tvm_ffi.libinfo.find_dlpack_include_path()))
    library = compiler.shared_library(
        {"source.cu": source}, flags=(), includes=list(folders), key=tvm_ffi.__version__, capabilities=capabilities
    )
    module = tvm_ffi.load_module(str(library))
    exported = re.findall(r"TVM_FFI_DLL_EXPORT_TYPED_FUNC\((\w+)", source)
    missing = [name for name in exported if getattr(module, name, None) is None]
    return f"the library has no function {missing[0]}" if missing else None


def ptx(source: str, target: str, version: str) -> str:
    """The PTX of a source by NVRTC of a version of CUDA. Its binary for the target is made too."""
    folder = {"12": "cuda_nvrtc", "13": "cu13"}[version]
    (path,) = _package("nvidia", f"{folder}/lib/libnvrtc.so.{version}")
    nvrtc = ctypes.CDLL(str(path))
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"source.cu", 0, None, None)
    options = (ctypes.c_char_p * 2)(f"--gpu-architecture={target}".encode(), b"--std=c++17")
    status = nvrtc.nvrtcCompileProgram(program, 2, options)

    def output(what: str) -> str:
        size = ctypes.c_size_t()
        getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, text)
        return text.value.decode(errors="replace")

    if status:
        raise RuntimeError(output("ProgramLog"))
    if not output("CUBIN").startswith("\x7fELF"):
        raise RuntimeError("NVRTC made no binary")
    return output("PTX")


def _of_ptx(text: str) -> str | None:
    """Which operations of PTX do not round once to nearest."""
    operations = set(re.findall(r"^\s+((?!ld|st|mov|setp|selp|neg|cvt|bar)\w[\w.]*\.f(?:32|64))\b", text, re.M))
    wrong = sorted(x for x in operations if not re.fullmatch(r"(add|sub|mul|div|sqrt)\.rn\.f(32|64)", x))
    return f"the PTX has {', '.join(wrong)}" if wrong else None


def _by_clang(source: str) -> tuple[str, str]:
    """The intermediate code and the instructions for gfx942. clang is that of ziglang; PyPI has no compiler of ROCm."""
    (zig,) = _package("ziglang", "zig")
    target = ("-x", "hip", "--cuda-device-only", "--offload-arch=gfx942", "-nogpulib", "-nogpuinc")
    header = ("-include", str(Path(__file__).with_name("hip_builtins.h")))
    found = []
    for kind in (("-emit-llvm",), ()):
        command = [zig, "clang", *target, *header, "-std=c++17", "-O3", "-S", *kind, "-o", "-", "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)
        found.append(done.stdout)
    return found[0], found[1]


def _of_ir(code: str, instructions: str) -> str | None:
    """Which operations of LLVM's code may be contracted or approximated."""
    flagged = re.findall(
        r"= (f(?:add|sub|mul|div) (?:contract|fast|arcp|afn|reassoc).*|.*@llvm\.fma.*|.*!fpmath.*)", code
    )
    if "xarrayops_draw" not in instructions:
        return "the instructions have no kernel"
    return f"the code has {flagged[0]}" if flagged else None


def _package(name: str, place: str) -> list[Path]:
    """The file of an installed package."""
    spec = util.find_spec(name)
    folders = (spec.submodule_search_locations or []) if spec else []
    return [path for folder in folders if (path := Path(folder, place)).exists()]


def _different_bits(draw: Draw) -> str | None:
    """Where the numbers of the source, compiled for the CPU, differ from NumPy's; None if nowhere."""
    found, wanted = np.empty(COUNT, draw.dtype), np.empty(COUNT, draw.dtype)
    numbers = device_random.arguments(draw, KEY, 1, COUNT)
    kernel = cuda_on_cpu.kernel(device_random.source(draw.kind, draw.dtype), device_random.NAME)
    given = [ctypes.c_double(x) if isinstance(x, float) else ctypes.c_longlong(x) for x in numbers]
    addresses = [ctypes.c_void_p(x) for x in (found.ctypes.data, 0, 0)]
    kernel(device_random.grid(1, COUNT), (device_random.THREADS, 1, 1), [*addresses, *given])
    draws.fill(wanted, draw, KEY, None)
    bits = f"uint{8 * found.itemsize}"
    places = np.flatnonzero(found.view(bits) != wanted.view(bits))
    return f"{places.size} of {COUNT} numbers differ, the first at {places[0]}" if places.size else None
