"""Every row of the contract and every operation on PyTorch/XLA, as StableHLO, compiled for a TPU by libtpu.

The programs come from the environment of PyTorch/XLA, which ``make xla`` makes; without it nothing is compiled.
"""

from __future__ import annotations

import math
import re
import sys
from argparse import Namespace
from functools import cache
from typing import Any

import numpy as np
from jax._src import compiler  # private: JAX compiles no text of a program
from jax._src.interpreters import mlir
from jaxlib._jax import DeviceList

from benchmarks.compile_devices import _report, _xla, xla_tpu
from benchmarks.compile_devices._operations import OPERATIONS
from benchmarks.compile_devices._rows import named_rows
from benchmarks.compile_devices._workers import Case, Record, start
from xarrayops._system.process import Worker

PYTHON = _report.ROOT / ".venv-xla" / "bin" / "python"
_EXPORT_S = 120.0


def main(arguments: Namespace) -> dict[str, Any]:
    """Compile all cases and write the evidence."""
    if not PYTHON.exists():
        print("PyTorch/XLA has no environment, which `make xla` makes", file=sys.stderr)
        return {"counts": {"not run": len(named_rows())}}
    cases = [
        *(
            {"row": name, "dtype": "", "number": number, "device": "v5e"}
            for number, (name, _) in enumerate(named_rows())
        ),
        *({"operation": name, "device": "v5e"} for name in OPERATIONS),
    ]
    versions = _xla.versions("libtpu") | _exporter().ask({"versions": True}, _EXPORT_S)["versions"]
    targets = [xla_tpu.target("v5e")]
    return _report.run("torch_xla_tpu", cases, versions, arguments, targets=targets, environment=xla_tpu.ENVIRONMENT)


@cache
def _exporter() -> Worker:
    """The process of PyTorch/XLA."""
    return start("benchmarks.compile_devices._torch_xla", python=str(PYTHON))


def compiled(case: Case) -> Record:
    """Compile all programs of a case and check their HLO; it has none if all of it runs on the CPU."""
    if not _exporter().alive:
        _exporter.cache_clear()
    exported = _exporter().ask(case, _EXPORT_S)
    programs = exported.pop("programs", None)
    if programs is None:
        return {"state": "failed", **exported}
    if not programs:
        ran = ", ".join(exported["on_cpu"])
        return {
            "state": "declared",
            "reason": f"PyTorch/XLA runs it on the CPU ({ran})" if ran else "it computes nothing",
        }
    products = [_compile(text) for text in programs]
    faults = [
        fault
        for text, made in zip(programs, products, strict=True)
        if (fault := _rounds(text) or _xla.no_callback(made))
    ]
    found = {
        "programs": len(programs),
        "on_cpu": exported["on_cpu"],
        "custom_calls": sorted({name for made in products for name in made.custom_calls}),
        "temporary_bytes": max(made.temporary_bytes for made in products),
    }
    state = {"state": "failed", "reason": "; ".join(faults)} if faults else {"state": "compiled"}
    return {**state, **{name: value for name, value in found.items() if value}}


def _compile(text: str) -> _xla.Product:
    """What libtpu makes of a program."""
    device = xla_tpu.device("v5e")
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with mlir.make_ir_context():
        made = device.client.compile(mlir.ir.Module.parse(_BITS.sub(_as_bytes, text)), DeviceList((device,)), options)
    hlo = "\n".join(module.to_string() for module in made.hlo_modules())
    return _xla.Product(hlo, "", made.get_compiled_memory_stats().temp_size_in_bytes)


_BITS = re.compile(r'dense<"0x([0-9A-F]+)">(?= : tensor<([0-9x]+)xi1>)')


def _as_bytes(constant: re.Match[str]) -> str:
    """A boolean constant with a byte for each element, as the MLIR of JAX has it; that of PyTorch/XLA has a bit."""
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(constant[1]), "uint8"), bitorder="little")
    size = math.prod(map(int, constant[2].split("x")))
    return f'dense<"0x{bits[:size].tobytes().hex().upper()}">'


def _rounds(text: str) -> str | None:
    """Why products of float32 are not IEEE float32."""
    products = re.findall(r"^.* = stablehlo\.(?:dot_general|convolution).*$", text, re.MULTILINE)
    rounded = [line for line in products if re.search(r"\(tensor<[^>]*f32>", line) and "HIGHEST" not in line]
    return f"{len(rounded)} products of float32 are rounded to bfloat16" if rounded else None
