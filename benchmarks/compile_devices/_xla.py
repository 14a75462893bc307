"""What the steps of XLA share: the cases, and the compilation of one case for a device that is not there."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import jax

from benchmarks.compile_devices._jax_operations import OPERATIONS
from benchmarks.compile_devices._operations import NOT_COMPUTED, Form, Operation
from benchmarks.compile_devices._rows import first_calls, named_rows
from benchmarks.compile_devices._workers import Case, Record
from xarrayops.errors import Unsupported
from xarrayops.testing import ContractSuite, Variant
from xarrayops.testing._suite.suite import rows
from xarrayops.testing._suite.table import supported_cases

_jax: Any = jax  # untyped: JAX does not annotate these functions
DUMP = tempfile.mkdtemp(prefix="compiled-")
"""The folder of this process to which XLA writes what it has generated."""


class Product(NamedTuple):
    """What XLA has made of a case."""

    hlo: str
    code: str
    temporary_bytes: int

    @property
    def custom_calls(self) -> list[str]:
        """The functions outside of XLA that the program calls."""
        return sorted(set(re.findall(r'custom_call_target="([^"]+)"', self.hlo)))


Check = Callable[[Product], str | None]
"""Why a product does not have a property that it must have; None if it has it."""


def versions(*packages: str) -> dict[str, str]:
    """The versions of the packages that are installed."""
    found = {}
    for name in ("jax", "jaxlib", *packages):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@cache
def variant() -> Variant:
    """The variant of JAX whose cases are compiled."""
    return Variant("jax")


def row_cases(*, each_class: bool) -> Iterator[Case]:
    """A case for each row of the contract, or for each class of dtypes of each row."""
    for number, (name, row) in enumerate(named_rows()):
        for dtype, position in first_calls(variant(), row, each_class=each_class).items():
            yield {"row": name, "dtype": dtype, "number": number, "call": position}


def operation_cases() -> Iterator[Case]:
    """A case for each operation that no row has."""
    yield from ({"operation": name} for name in (*OPERATIONS, *NOT_COMPUTED))


def _operation_of(case: Case) -> Operation:
    """The operation of a case, or the first call of its row."""
    if "operation" in case:
        return OPERATIONS[case["operation"]]
    row = rows(ContractSuite)[case["number"]]
    call = supported_cases(variant(), row)[case["call"]]
    target = variant().creation if row.creation and "like" not in call.kwargs else {}

    def function(*arrays: Any) -> Any:
        given = iter(arrays)
        filled = call.filled(lambda a: next(given), variant().backend.native_dtype)
        return row.public(*filled.args, **filled.kwargs, **target)

    return Operation(function, [Form(a.dtype.name, a.shape) for a in call.arrays])


def _declared(case: Case) -> str | None:
    """Why a case is not compiled, as the backend or this benchmark declares it."""
    if "operation" in case:
        return NOT_COMPUTED.get(case["operation"])
    gap = variant().backend.untraceable.get(rows(ContractSuite)[case["number"]].verb)
    return None if gap is None else f"{gap.why}; {gap.instead}"


def compile_case(case: Case, platform: str, device: Any, checks: dict[str, Check]) -> Record:
    """Compile a case, unless it is declared."""
    reason = _declared(case)
    if reason is not None:
        return {"state": "declared", "reason": reason}
    return compile_operation(_operation_of(case), platform, device, checks)


def compile_operation(operation: Operation, platform: str, device: Any, checks: dict[str, Check]) -> Record:
    """Trace an operation on this machine's CPU, lower it for the platform, compile it and check the product."""
    arguments = [jax.ShapeDtypeStruct(form.shape, jax.numpy.dtype(form.dtype)) for form in operation.arguments]
    try:
        product = compiled(operation.function, arguments, platform, device)
    except Unsupported as error:
        return {"state": "declared", "reason": str(error)}
    faults = [
        fault for name in ("no callback", *operation.checks) if name in checks and (fault := checks[name](product))
    ]
    found = {"custom_calls": product.custom_calls, "temporary_bytes": product.temporary_bytes}
    if faults:
        return {"state": "failed", "reason": "; ".join(faults), **found}
    return {"state": "compiled", **{name: value for name, value in found.items() if value}}


def compiled(function: Callable[..., Any], arguments: Sequence[Any], platform: str, device: Any) -> Product:
    """What XLA makes of a function for a device."""
    for path in Path(DUMP).glob("*"):
        path.unlink()

    def arrays(*given: Any) -> list[Any]:
        return [x for x in _jax.tree.leaves(function(*given)) if isinstance(x, jax.Array)]

    placed = _jax.sharding.SingleDeviceSharding(device)
    traced = _jax.jit(arrays, in_shardings=placed, out_shardings=placed).trace(*arguments)
    done = traced.lower(lowering_platforms=(platform,)).compile()
    code = "".join(path.read_text(errors="replace") for path in sorted(Path(DUMP).glob("*")) if _is_code(path))
    memory = done.memory_analysis()
    return Product(done.as_text(), code, memory.temp_size_in_bytes if memory else 0)


def _is_code(path: Path) -> bool:
    return path.name.endswith((".ptx", "ir-with-opt.ll"))


def no_callback(product: Product) -> str | None:
    """No function of the host is called while the program runs."""
    found = [name for name in product.custom_calls if "callback" in name.lower()]
    return f"it calls the host: {', '.join(found)}" if found else None


def no_scores(product: Product) -> str | None:
    """Attention keeps no array of the scores of all queries and keys, whose numbers are 1024."""
    found = re.search(r"\[[\d,]*1024,1024\]", product.hlo)
    return f"an array {found[0]}" if found else None


def keeps_nan(product: Product) -> str | None:
    """A maximum is one reduction, by the instruction that keeps NaN."""
    if "@llvm.maximum" not in product.code or "@llvm.maxnum" in product.code:
        return "the instruction for a maximum loses NaN"
    count = len(re.findall(r" reduce\(", product.hlo))
    return (
        f"{count} reductions" if count > 2 else None
    )  # one reduction may be split in two, of parts and of their results
