"""Whether a file gives what the function gives: at the examples, at other values, and at other lengths."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from xarrayops._core import registry
from xarrayops._core.registry import Backend
from xarrayops._ops import agreement
from xarrayops._ops.export.exported import Runner, is_wide, passed
from xarrayops._ops.export.request import Request
from xarrayops._ops.export.samples import Sample, not_finite, other_lengths, proposals
from xarrayops._ops.transformations.arguments import arrays_of, rebuilt
from xarrayops._protocol.export_hooks import Exporter
from xarrayops._protocol.records import Record
from xarrayops._protocol.types import Array
from xarrayops.errors import Unsupported, XArrayOpsError


class Compared(Record):
    """The largest difference at each sample, and what else was found."""

    differences: dict[str, float]
    notes: tuple[str, ...]


class Comparison:
    """The samples of a request, with the results of the function, for the files of all exporters."""

    def __init__(self, request: Request, given: tuple[tuple[Any, ...], ...]) -> None:
        self._request = request
        self._examples = Sample("the examples", request.arrays, request.want)
        self._given = tuple(self._given_sample(i, arguments) for i, arguments in enumerate(given))

    def _given_sample(self, number: int, arguments: tuple[Any, ...]) -> Sample:
        arrays = arrays_of(arguments)
        return Sample(f"sample {number}", arrays, self._request.result(agreement.copied(arrays)))

    def compared(self, runner: Runner, exporter: Exporter, tracer: Backend) -> Compared:
        """The differences. Raises `XArrayOpsError` if the file gives something else than the function."""
        differences = {}
        for sample in (self._examples, *self._given):
            differences[sample.label] = self._required(runner, sample)
        notes = []
        found = self._first_usable(runner, exporter, tracer, "other values", {})
        if found is None:
            notes.append("no other values of these shapes were compared: the function does not accept mixed ones")
        else:
            differences["other values"] = found
        for lengths in other_lengths(self._request):
            label = ", ".join(f"{name} = {n}" for name, n in lengths.items())
            found = self._first_usable(runner, exporter, tracer, label, lengths)
            if found is None:
                if not self._has_lengths(lengths):
                    raise Unsupported(f"no arguments could be made for {label}. Instead: samples=, with arguments")
                continue
            differences[label] = found
        return Compared(differences, (*notes, *self._noted(runner)))

    def _has_lengths(self, lengths: dict[str, int]) -> bool:
        """Whether the user gave a sample in which these axes have other lengths than in the examples."""
        others = {
            name: int(x.shape[axis])
            for sample in self._given
            for x, axes in zip(sample.arrays, self._request.axes, strict=True)
            for axis, name in axes.items()
        }
        return all(others.get(name, n) != n for name, n in self._request.sizes.items())

    def _required(self, runner: Runner, sample: Sample) -> float:
        got = runner.result(self._request.own, sample.arrays)
        text = self._difference(sample, got)
        if text is not None:
            raise XArrayOpsError(f"the file is wrong at {sample.label}: {text}")
        return _largest(sample.want, got)

    def _difference(self, sample: Sample, got: Any) -> str | None:
        return agreement.difference(sample.want, got, self._request.result, sample.arrays)

    def _first_usable(
        self, runner: Runner, exporter: Exporter, tracer: Backend, label: str, lengths: dict[str, int]
    ) -> float | None:
        """The difference at the first proposal for these lengths that the function accepts; None if there is none."""
        for sample in self._samples(label, lengths):
            try:
                return self._required(runner, sample)
            except Exception as error:
                # The library that was traced may itself differ there: such arguments prove nothing about the file.
                if self._agrees_without_a_file(sample, exporter, tracer):
                    raise _as_ours(error, sample) from error
        return None

    def _samples(self, label: str, lengths: dict[str, int]) -> Iterator[Sample]:
        for arrays in proposals(self._request, lengths):
            sample = self._sample(label, arrays)
            if sample is not None and (_has_nan(self._request.want) or not _has_nan(sample.want)):
                yield sample  # NaN for values that the function does not accept differs among libraries

    def _sample(self, label: str, arrays: tuple[Array, ...]) -> Sample | None:
        """A sample with the result of the function; None if it does not accept the arguments."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of values that the user did not give
            try:
                return Sample(label, arrays, self._request.result(agreement.copied(arrays)))
            except Exception:  # the function may raise anything
                return None

    def _agrees_without_a_file(self, sample: Sample, exporter: Exporter, tracer: Backend) -> bool:
        request = self._request
        if tracer is request.own:
            return True
        with exporter.settings(is_wide(request.own)):
            try:
                found = arrays_of(request.result(passed(x, tracer) for x in sample.arrays))
                got = rebuilt(request.form, (registry.backend_of(y).functions["to_numpy"](y) for y in found))
            except Exception:
                return False
            want = rebuilt(request.form, (request.own.functions["to_numpy"](y) for y in arrays_of(sample.want)))
        return agreement.difference(want, got) is None

    def _noted(self, runner: Runner) -> Iterator[str]:
        """Differences where many files differ, and which are reported instead: NaN and infinities, and short axes."""
        arrays = not_finite(self._request)
        sample = None if arrays is None else self._sample("", arrays)
        if sample is not None:
            text = self._odd(runner, sample)
            yield "agrees at NaN and infinities" if text is None else f"differs at NaN or infinities: {text}"
        for name in self._request.sizes:
            for n in (2, 1):
                sample = self._sample("", next(proposals(self._request, {name: n})))
                text = None if sample is None else self._odd(runner, sample)
                if text is not None:
                    yield f"it serves only {name} > {n}: {text}"
                    break

    def _odd(self, runner: Runner, sample: Sample) -> str | None:
        """How the results differ; None if they agree."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self._difference(sample, runner.result(self._request.own, sample.arrays))
            except Exception as error:  # a library may raise anything
                return _first_line(error)


def _as_ours(error: Exception, sample: Sample) -> XArrayOpsError:
    if isinstance(error, XArrayOpsError):
        return error
    return XArrayOpsError(f"the file fails at {sample.label}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _has_nan(result: Any) -> bool:
    import numpy as np

    values = (agreement.host(x) for x in arrays_of(result))
    return any(bool(np.isnan(x).any()) for x in values if x.dtype.kind in "fc")


def _largest(want: Any, got: Any) -> float:
    """The largest difference of finite elements, relative to the largest element of its array."""
    import numpy as np

    largest = 0.0
    for x, y in zip(arrays_of(want), arrays_of(got), strict=True):
        wide, near = (np.asarray(agreement.host(each)).astype(np.complex128) for each in (x, y))
        finite = np.isfinite(wide) & np.isfinite(near)
        if finite.any():
            size = float(np.abs(wide[finite]).max())
            largest = max(largest, float(np.abs(wide - near)[finite].max()) / (size or 1.0))
    return largest
