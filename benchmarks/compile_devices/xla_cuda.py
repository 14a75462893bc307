"""Every row of the contract and every operation on JAX, compiled for an H100 by XLA's CUDA compiler."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
from jax.experimental.sparse import BCSR, _lowerings
from xarrayops_backends.jax._sparse import programs

from benchmarks.compile_devices import _gpus, _report, _xla
from benchmarks.compile_devices._operations import Operation, array
from benchmarks.compile_devices._workers import Case, Record
from benchmarks.compile_devices._xla import Product

PACKAGES = ("jax-cuda13-pjrt", "jax-cuda13-plugin", "nvidia-cuda-nvcc", "nvidia-cudnn-cu13", "nvidia-cusolver")


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    jax.config.update("jax_enable_x64", True)
    environment = {"JAX_ENABLE_X64": "1"}
    products = ({"operation": name} for name in CUSPARSE)
    cases = [*_xla.row_cases(each_class=True), *_xla.operation_cases(), *products]
    targets, versions = [_gpus.H100.target], _xla.versions(*PACKAGES)
    return _report.run("xla_cuda", cases, versions, arguments, targets=targets, environment=environment)


@cache
def _device() -> Any:
    return _gpus.device("cuda", _gpus.H100)


class _WithoutGpu:
    """Describes products to cuSPARSE, which JAX asks for the size of the workspace while it lowers: this needs a GPU.

    Any size serves: the program for the GPU is the same but for the size of one array.
    """

    def build_csr_matvec_descriptor(self, *product: Any) -> tuple[int, bytes]:
        return 16, b""

    build_csr_matmat_descriptor = build_csr_matvec_descriptor


def _stored(product: Callable[[BCSR, Any], Any], *shape: int) -> Operation:
    """The product of a stored (64, 48) matrix with 200 entries and a dense array."""

    def call(data: Any, columns: Any, pointers: Any, dense: Any) -> Any:
        return product(BCSR((data, columns, pointers), shape=(64, 48)), dense)

    parts = (array("float32", 200), array("int32", 200), array("int32", 65))
    return Operation(call, (*parts, array("float32", *shape)), ("cuSPARSE",))


CUSPARSE = {
    "matmul by cuSPARSE, matrix": _stored(programs.cusparse, 48, 8),
    "matmul by cuSPARSE, vector": _stored(programs.cusparse, 48),
    "matmul by cuSPARSE, dense first": _stored(lambda s, dense: programs.cusparse(dense, s), 8, 64),
}


def compiled(case: Case) -> Record:
    """Compile a case and check its PTX and HLO."""
    if case.get("operation") in CUSPARSE:
        _lowerings._get_module = lambda prefix: _WithoutGpu()
        return _xla.compile_operation(CUSPARSE[case["operation"]], "cuda", _device(), CHECKS)
    return _xla.compile_case(case, "cuda", _device(), CHECKS)


def _rounded(product: Product) -> str | None:
    """Division and roots of float32 are rounded to nearest."""
    found = sorted(set(re.findall(r"\b(?:div\.full|div\.approx|sqrt\.approx)[.\w]*", product.code)))
    return f"the PTX has {', '.join(found)}" if found else None


def _on_integer_cores(product: Product) -> str | None:
    """A product of 8-bit integers uses tensor cores of integers, by Triton or by cuBLAS."""
    if re.search(r"\b(?:mma|wgmma)\S*\.s8\b", product.code) or "__cublas" in product.hlo:
        return None
    return "no tensor core multiplies 8-bit integers"


def _in_full_precision(product: Product) -> str | None:
    """A product of float32 does not use TF32."""
    found = re.search(r"\S*mma\S*tf32\S*", product.code)
    return f"the PTX has {found[0]}" if found else None


def _in_tf32(product: Product) -> str | None:
    """A product of float32 that may use TF32 does."""
    return None if re.search(r"mma\S*tf32", product.code) else "no tensor core multiplies TF32"


def _is_fused(product: Product) -> str | None:
    """Attention is a call of cuDNN without transposes around it."""
    if not any(name.startswith("__cudnn$fmha") for name in product.custom_calls):
        return "cuDNN's attention is not called"
    found = re.findall(r"= (\S+) transpose\(", product.hlo)
    return f"{len(found)} transposes, such as of {found[0]}" if found else None


def _by_cusparse(product: Product) -> str | None:
    """A product of a stored matrix is one call of cuSPARSE."""
    found = [name for name in product.custom_calls if name.startswith("cusparse_csr")]
    return None if len(found) == 1 else f"{len(found)} calls of cuSPARSE"


CHECKS = {
    "cuSPARSE": _by_cusparse,
    "no callback": _xla.no_callback,
    "rounded": _rounded,
    "integer cores": _on_integer_cores,
    "tf32": _in_tf32,
    "full precision": _in_full_precision,
    "fused attention": _is_fused,
    "no scores": _xla.no_scores,
    "keeps NaN": _xla.keeps_nan,
}
