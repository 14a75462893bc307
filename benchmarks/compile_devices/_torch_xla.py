"""The programs that PyTorch/XLA makes of the rows of the contract and of operations, as if its CPU device were a TPU.

It runs in the environment of PyTorch/XLA, which `torch_xla_tpu` asks. PyTorch/XLA records operations and gives XLA a
program when their values are needed; each program is written to a file, as StableHLO.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

PROGRAMS = Path(tempfile.mkdtemp(prefix="programs-")) / "programs"
os.environ.update(PJRT_DEVICE="CPU", XLA_SAVE_TENSORS_FILE=str(PROGRAMS), XLA_SAVE_TENSORS_FMT="stablehlo")

import numpy as np  # noqa: E402 - PyTorch/XLA reads the environment when it is imported
import torch_xla.backends  # noqa: E402
import torch_xla.core.xla_model as xm  # noqa: E402
import torch_xla.debug.metrics as metrics  # noqa: E402

import xarrayops as xo  # noqa: E402
from benchmarks.compile_devices._operations import OPERATIONS, Form  # noqa: E402
from benchmarks.compile_devices._rows import first_calls, named_rows  # noqa: E402
from benchmarks.compile_devices._workers import Case, Record  # noqa: E402
from xarrayops.errors import Unsupported  # noqa: E402
from xarrayops.testing import Variant  # noqa: E402
from xarrayops.testing._suite.table import native_case, supported_cases  # noqa: E402

_torch_xla: Any = torch_xla  # untyped: PyTorch/XLA does not annotate these functions


@cache
def _variant() -> Variant:
    """The variant of PyTorch/XLA, whose device says that it is a TPU."""
    _torch_xla.backends.set_mat_mul_precision("highest")
    variant = Variant("torch_xla")
    xm.xla_device_hw = lambda device: "TPU"
    return variant


def compiled(case: Case) -> Record:
    """The programs of a case, and PyTorch's operators that it ran on the CPU; or the versions of the libraries."""
    if "versions" in case:
        return {"versions": {name: version(name) for name in ("torch", "torch_xla")}}
    prepared = _operation(case["operation"]) if "operation" in case else _row(case["number"])
    if prepared is None:
        return {"state": "declared", "reason": "PyTorch/XLA has no dtype of its calls"}
    function, arguments = prepared
    _torch_xla.sync(wait=True)
    for path in PROGRAMS.parent.glob("*"):
        path.unlink()
    metrics.clear_all()
    try:
        result = function(*arguments)
        _torch_xla.sync(wait=True)
    except Unsupported as error:
        return {"state": "declared", "reason": str(error)}
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.parent.glob("*")))
    programs = re.findall(r"^## BEGIN_GRAPH\n(.*?)^Graph Hash", text, re.DOTALL | re.MULTILINE)
    on_cpu = sorted(name for name in metrics.counter_names() if name.startswith("aten::"))
    del result
    return {"programs": programs, "on_cpu": on_cpu}


def _row(number: int) -> tuple[Callable[..., Any], Sequence[Any]] | None:
    """The function and the arguments of the first call of a row; None if no call has dtypes of the library."""
    row = named_rows()[number][1]
    first = first_calls(_variant(), row, each_class=False)
    if not first:
        return None
    given, target = native_case(_variant(), row, supported_cases(_variant(), row)[first[""]])
    return lambda: row.public(*given.args, **given.kwargs, **target), ()


def _operation(name: str) -> tuple[Callable[..., Any], Sequence[Any]]:
    operation = OPERATIONS[name]
    return operation.function, [_array(form) for form in operation.arguments]


def _array(form: Form) -> Any:
    """An array of ones."""
    return xo.astype(_variant().make(np.ones(form.shape, dtype="float32")), form.dtype)
