"""check_operation: what it checks, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import perf_counter
from typing import Any

import numpy as np

from xarrayops._core.backends import find, registry
from xarrayops._core.backends.registry import Backend
from xarrayops._ops.operations.definition import Definition
from xarrayops._ops.operations.native import Native
from xarrayops._system.texts import counted
from xarrayops.plugin.arrays import Record
from xarrayops.plugin.candidates import Call, Kernel, refusal
from xarrayops.plugin.native import Results, eager_kernel
from xarrayops.testing._operations._call import Expected, as_tuple, expected, faults, placed, value_faults
from xarrayops.testing._operations._samples import Sample, between_poison, derived, given, placements, poison, quietly
from xarrayops.testing._operations._transformations import batch_faults, compiled_faults, gradient_faults, lazy_faults
from xarrayops.testing._verify._run import Setup, setups
from xarrayops.testing._verify._values import value

THREADS = 4
CALLS_OF_THREAD = 8
SECONDS_OF_THREAD = 0.02
"""The minimum number of calls of a thread, and its minimum time: short calls seldom overlap."""


class OperationFault(Record):
    """A fault of a kernel or of the operation.

    Attributes
    ----------
    kernel : str
        ``"library:kernel"``, or the library and the way in which the operation ran.
    sample : str
        The arguments.
    what : str
        What is wrong.
    """

    kernel: str
    sample: str
    what: str

    def __str__(self) -> str:
        return f"{self.kernel}, {self.sample}: {self.what}"


class OperationReport(Record):
    """The outcome of `check_operation`.

    Attributes
    ----------
    name : str
        The operation.
    calls : dict
        The number of calls that were checked, by kernel (``"library:kernel"``).
    not_checked : dict
        The kernels that were not checked, each with the reason.
    faults : tuple of OperationFault
        What is wrong.
    """

    name: str
    calls: dict[str, int]
    not_checked: dict[str, str]
    faults: tuple[OperationFault, ...]

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def __str__(self) -> str:
        lines = [f"{self.name}: {counted(len(self.faults), 'fault') if self.faults else 'no fault'}"]
        lines += [f"  {kernel}: {counted(count, 'call')}" for kernel, count in self.calls.items()]
        lines += [f"  {kernel}: not checked: {reason}" for kernel, reason in self.not_checked.items()]
        lines += [f"  fault: {fault}" for fault in self.faults]
        return "\n".join(lines)


def check_operation(
    operation: Callable[..., Any], /, samples: Sequence[Any], *, libraries: Sequence[str] | None = None
) -> OperationReport:
    """Compare every kernel of an operation with its reference, on every installed library.

    Each kernel is called directly, on arrays between other values, at odd addresses, with strides and negative strides,
    in Fortran order and read-only, if it declares that it accepts them. Further samples are derived from those
    given: other values, NaN and infinities, shorter and empty axes, the same array as two arguments, and other options.
    The results must be those of the reference in double precision within the error budget of `verify`, with the
    reference's dtypes and shapes, in new memory; nothing else may be written; calls from several threads must not
    disturb each other. A native kernel must fill its results, which hold other values before the call, and write
    nothing outside them; only then the other calls are made. Then the operation runs as users call it: eagerly, under
    `torch.compile` and `jax.jit`, on the meta device, on Dask without a computation, under vmap, and its gradients are
    compared with those of the reference.

    Parameters
    ----------
    operation : callable
        A function that `xarrayops.operation` made.
    samples : sequence of tuples
        The arguments of calls: arrays of NumPy, None for an omitted one, and last a dict of options if there are any.
        Each kernel should be able to serve at least one of them, and every option should be in one.
    libraries : sequence of str, optional
        The libraries, such as ``["numpy", "torch"]``; by default all that are installed.

    Returns
    -------
    OperationReport
        The number of checked calls of each kernel, and the kernels that were not checked, with the reason.

    Raises
    ------
    AssertionError
        A fault was found; the message is the report.
    TypeError
        The function is not an operation, or a sample has too many arrays.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> @xo.operation("docs::double")
    ... def double(x):
    ...     return x + x
    >>> @double.kernel("numpy:in place")
    ... def _(x):
    ...     x *= 2
    ...     return x
    >>> try:
    ...     xo.testing.check_operation(double, [(np.ones(3),)], libraries=["numpy"])
    ... except AssertionError as error:
    ...     print("it writes to its arguments" in str(error))
    True
    """
    definition = getattr(operation, "operation", None)
    if not isinstance(definition, Definition):
        raise TypeError(
            f"check_operation takes an operation, not {operation!r}. Instead: decorate it with xo.operation"
        )
    report = _Check(definition, samples).report(libraries)
    if not report.ok:
        raise AssertionError(str(report))
    return report


class _Check:
    """The samples of an operation with their expected results, and the faults found."""

    def __init__(self, definition: Definition, samples: Sequence[Any]) -> None:
        self.definition = definition
        self.faults: dict[OperationFault, None] = {}
        self.calls: dict[str, int] = {}
        reference = definition.reference
        self.samples = given(samples, len(definition.parameters.arrays))
        defaults = definition.parameters.defaults
        self.samples = [each._replace(options=defaults | each.options) for each in self.samples]
        self.expected: dict[str, Expected] = {}
        self.all: list[Sample] = []
        for sample in self.samples:
            for each in (sample, *derived(sample, reference)):
                self.all.append(each)
                self.expected[each.label] = expected(reference, each)

    def report(self, libraries: Sequence[str] | None) -> OperationReport:
        """Check everything."""
        ways = [each for each in setups(libraries) if isinstance(each.library, str)]
        self._check_natives()
        is_safe = not self.faults  # a function that writes outside its results would damage the memory of this process
        for setup in ways if is_safe else ():
            with setup.mode.context():
                if setup.mode == setup.mode.eager and setup.mode.has_values:
                    self._check_library(setup)
                for sample in self.samples:
                    expect = self.expected[sample.label]
                    self._add(setup.name, sample, compiled_faults(self.definition, sample, setup, expect))
        checked = {each.library for each in ways}
        not_checked = self._not_checked(checked) if is_safe else {}
        return OperationReport(self.definition.name, self.calls, not_checked, tuple(self.faults))

    def _add(self, kernel: str, sample: Sample, found: Iterator[str]) -> None:
        for what in found:
            self.faults[OperationFault(kernel, sample.label, what)] = None

    def _check_library(self, setup: Setup) -> None:
        backend = find.named(setup.library)
        kernels = self.definition.by(backend).kernels[:-1]
        for kernel in kernels:
            self._check_kernel(kernel, backend, setup)
        for sample in self.samples:
            if kernels or self.definition.gradient is not None:
                self._add(f"{backend.name}, differentiated", sample, gradient_faults(self.definition, sample, backend))
                self._add(f"{backend.name}, batched", sample, batch_faults(self.definition, sample, backend))
            self._add(setup.name, sample, lazy_faults(self.definition, sample, setup))

    def _check_kernel(self, kernel: Kernel, backend: Backend, setup: Setup) -> None:
        name = f"{backend.name}:{kernel[0]}"
        for sample in self.all:
            for placement, place in placements(backend).items():
                arrays, _ = placed(sample, place, backend)
                if refusal(kernel, Call(arrays, sample.options)) is not None:
                    continue
                self.calls[name] = self.calls.get(name, 0) + 1
                shown = sample._replace(label=f"{sample.label}, {placement}")
                self._add(name, shown, faults(kernel[1], sample, place, backend, self.expected[sample.label]))
        if all(fault.kernel != name for fault in self.faults):  # else threads would find the same faults
            for sample in self.samples:
                self._add(name, sample, self._thread_faults(kernel, sample, backend, setup))

    def _check_natives(self) -> None:
        """Check what the compiled functions for host memory do to their results."""
        numpy = find.named("numpy")
        for native in self.definition.natives:
            if native.device == "cpu" and native.unavailable() is None:
                for sample in self.all:
                    self._add(native.name, sample, _native_faults(native, sample, numpy, self.expected[sample.label]))

    def _thread_faults(self, kernel: Kernel, sample: Sample, backend: Backend, setup: Setup) -> Iterator[str]:
        """Whether calls of several threads, on two samples, disturb each other."""
        place = next(iter(placements(backend).values()))
        other = next((each for each in self.all if each.label == f"{sample.label}, values reversed"), sample)
        pairs = [(each, placed(each, place, backend)[0]) for each in (sample, other)]
        if any(refusal(kernel, Call(arrays, each.options)) is not None for each, arrays in pairs):
            return

        def work(k: int) -> list[str]:
            each, arrays = pairs[k % 2]
            different: dict[Any, Any] = {}
            with setup.mode.context():
                start.wait()
                count, end = 0, perf_counter() + SECONDS_OF_THREAD
                while count < CALLS_OF_THREAD or perf_counter() < end:
                    y = kernel[1](*arrays, **each.options)
                    different.setdefault(tuple(value(part).data.tobytes() for part in as_tuple(y)), y)
                    count += 1
                return [text for y in different.values() for text in value_faults(self.expected[each.label], y)]

        start = Barrier(THREADS)
        with ThreadPoolExecutor(THREADS) as pool:
            found = [text for texts in pool.map(work, range(THREADS)) for text in texts]
        alone = [
            text
            for each, arrays in pairs
            for text in value_faults(self.expected[each.label], each._replace(arrays=arrays).call(kernel[1]))
        ]
        if found and not alone:
            yield f"calls from several threads disturb each other: {found[0]}"

    def _not_checked(self, libraries: set[Any]) -> dict[str, str]:
        """The kernels without a checked call, with the reason."""
        found = {}
        for library in registry.names():
            for kernel in self.definition.kernels_of(library):
                name = f"{library}:{kernel.name}"
                if name not in self.calls:
                    here = library in libraries
                    found[name] = "it can serve none of the samples" if here else f"{library} is not available"
        return found


def _native_faults(native: Native, sample: Sample, numpy: Backend, want: Expected) -> Iterator[str]:
    """What is wrong with the results of a compiled function for host memory."""
    arrays = [x if x is None else between_poison(x)[0] for x in sample.arrays]
    own = native.kernel()
    if native.refusal(Call(tuple(arrays), sample.options), numpy) is not None:
        return
    made: list[tuple[Any, Any]] = []

    def empty(shape: tuple[int, ...], dtype: Any, x: Any) -> Any:
        made.append(between_poison(np.full(shape, poison(dtype), dtype)))
        return made[-1][0]

    def results(*arrays: Any, **options: Any) -> Results:
        return Results.of(quietly(own.reference, *arrays, **options))

    kernel = eager_kernel(own, results=results, empty=empty)
    try:
        found = quietly(kernel, *arrays, **sample.options)
    except Exception as error:
        yield f"it raises {type(error).__name__}: {error}"
        return
    for what in value_faults(want, found):
        yield f"into memory that held other values: {what}"
    for inner, owner in made:
        inner[...] = poison(inner.dtype)
        if owner.tobytes() != between_poison(inner)[1].tobytes():
            yield "it writes next to its results"
