"""Every row of the contract, and the calls of `_fake_cuda_calls`, on PyTorch's fake CUDA tensors.

A call fails if CUDA has no kernel for a dtype, if devices are mixed, if a result is not on the device, if it waits for
values without being listed, and if it needs more kernels than ``kernels.json`` says. That file also has the numbers of
kernels at the commit that it names. A number that has become smaller replaces the one in the file.
"""

from __future__ import annotations

import json
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

from benchmarks.compile_devices import _fake_tensors, _report
from benchmarks.compile_devices._fake_cuda_calls import CALLS
from benchmarks.compile_devices._fake_tensors import FakeCuda, Recorder
from benchmarks.compile_devices._workers import Case, Record
from xarrayops.plugin import gap_of
from xarrayops.testing._suite.suite import ContractSuite, rows
from xarrayops.testing._suite.table import Row, native_case, selected_cases

KERNELS = Path(__file__).with_name("kernels.json")
_SHAPE = "the shape of the result depends on values"
_ERROR = "raise NumPy's ValueError at the call; an assertion of the device would end the use of CUDA in the process"
WAITS = {
    **dict.fromkeys(("argwhere", "compress", "nonzero"), _SHAPE),
    **dict.fromkeys(("unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _SHAPE),
    **dict.fromkeys(("intersect1d", "intersect1d with indices", "setdiff1d", "setxor1d", "union1d"), _SHAPE),
    "bincount": "without length= the length of the result depends on values",
    "segment_sum": "without num_segments= the length of the result depends on values",
    "repeat": "with an array of repeats the shape of the result depends on values",
    "geomspace of arrays of xarrayops.numpy": f"zeros {_ERROR}",
    **dict.fromkeys((f"nanarg{name} of xarrayops.numpy" for name in ("max", "min")), f"slices of NaN alone {_ERROR}"),
    "real_if_close of xarrayops.numpy": "the dtype of the result depends on values",
}
"""The rows of which some calls wait for the device, and the operations that do, and why."""


def main(arguments: Namespace) -> dict[str, Any]:
    """Run all cases, lower the numbers of kernels that have become smaller, and write the evidence."""
    found = _report.run("fake_cuda", cases(), {"torch": version("torch")}, arguments, targets=["fake CUDA tensors"])
    _lower(found["records"])
    return found


def compiled(case: Case, *, calls: int | None = None) -> Record:
    """Run a case: all calls of a row, or the given number and one of each other class of dtypes."""
    prepare()
    if "row" in case:
        return _of_row(_rows()[case["row"]], FakeCuda("torch", calls=calls))
    function, *specifications = CALLS[case["operation"]]
    return _judged(case, [_watched(lambda: (function, _empty(specifications), {}))], waits=WAITS.get(case["operation"]))


def cases() -> list[Case]:
    """The rows and the calls."""
    return [*({"row": name} for name in _rows()), *({"operation": name} for name in CALLS)]


@cache
def prepare() -> None:
    """Let this process use fake CUDA tensors."""
    warnings.simplefilter("ignore")
    _fake_tensors.use_fake_cuda()


@cache
def _rows() -> dict[str, Row]:
    return {str(row): row for row in rows(ContractSuite)}


def _of_row(row: Row, variant: FakeCuda) -> Record:
    gap = gap_of(variant.backend.functions[row.hook or row.verb])
    if gap is not None:
        return {"state": "declared", "reason": gap.why}

    def prepared(case: Any) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
        native, target = native_case(variant, row, case)
        return row.public, native.args, {**native.kwargs, **target}

    chosen = selected_cases(variant, row)
    found = [_watched(partial(prepared, case)) for case in chosen]
    return _judged({"row": str(row)}, found, waits=WAITS.get(str(row)), is_whole=variant.calls is None)


def _empty(specifications: Sequence[Any]) -> list[torch.Tensor]:
    return [torch.empty(shape, dtype=getattr(torch, dtype), device="cuda:0") for shape, dtype in specifications]


def _watched(prepared: Callable[[], Any]) -> Record:
    """One call of a function, with its arguments: the number of kernels, whether it waits, and its faults."""
    recorder, faults, waits = Recorder(), [], False
    with FakeTensorMode():
        function, args, kwargs = prepared()
        try:
            with recorder:
                results = function(*args, **kwargs)
            places = {x.device.type for x in tree_leaves(results) if isinstance(x, torch.Tensor)} - {"cuda"}
            faults += [f"a result is on {place}" for place in sorted(places)]
        except Exception as error:
            waits = any(isinstance(each, _fake_tensors.WAITS) for each in _causes(error))
            if not waits:
                faults.append(f"{type(error).__name__}: {' '.join(str(error).split())}"[:200])
    return {"kernels": recorder.kernels, "waits": waits, "faults": [*faults, *sorted(recorder.missing)]}


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _judged(case: Case, calls: list[Record], *, waits: str | None, is_whole: bool = True) -> Record:
    """The record of the calls of a case."""
    faults = sorted({fault for call in calls for fault in call["faults"]})
    kernels = max((call["kernels"] for call in calls), default=0)
    allowed = _known()[_kind(case)].get(_name(case), {}).get("kernels")
    does_wait = any(call["waits"] for call in calls)
    if allowed is not None and kernels > allowed:
        faults.append(f"it needs {kernels} kernels, and {KERNELS.name} allows {allowed}")
    if does_wait and waits is None:
        faults.append("it waits for the device, and is not listed in WAITS")
    if waits and is_whole and not does_wait:
        faults.append("it does not wait for the device: delete it from WAITS")
    state: Record = {"state": "failed", "reason": "; ".join(faults)} if faults else {"state": "compiled"}
    return {**state, "kernels": kernels, **({"waits": waits} if does_wait else {})}


def _kind(case: Case) -> str:
    return "rows" if "row" in case else "operations"


def _name(case: Case) -> str:
    return case.get("row") or case["operation"]


@cache
def _known() -> dict[str, Any]:
    return json.loads(KERNELS.read_text(encoding="utf-8"))


def _lower(records: list[Record]) -> None:
    """Write the numbers of kernels that are new or smaller than those of the file."""
    known = _known()
    for record in records:
        if "kernels" in record:
            counts = known[_kind(record)].setdefault(_name(record), {})
            counts["kernels"] = min(record["kernels"], counts.get("kernels", record["kernels"]))
    parts = [f'"before": {json.dumps(known["before"])}']
    for kind in ("rows", "operations"):
        lines = ",\n  ".join(
            f"{json.dumps(name)}: {json.dumps(counts)}" for name, counts in sorted(known[kind].items())
        )
        parts.append(f'"{kind}": {{\n  {lines}\n }}')
    KERNELS.write_text("{\n " + ",\n ".join(parts) + "\n}\n", encoding="utf-8")
