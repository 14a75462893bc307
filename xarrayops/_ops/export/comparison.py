"""Compare a file with the function: at the examples, at other values, and at other lengths."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._ops import agreement
from xarrayops._ops.export.exported import Reader, Runner, passed
from xarrayops._ops.export.request import Request
from xarrayops._ops.export.samples import Proposal, Sample, at_lengths, mixed, not_finite, other_lengths, other_values
from xarrayops._ops.transformations.arguments import arrays_of, rebuilt
from xarrayops.errors import Unsupported, XArrayOpsError
from xarrayops.plugin.arrays import Array, Record
from xarrayops.plugin.nested import fill, is_array


class Compared(Record):
    """The largest difference at each sample, and notes."""

    differences: dict[str, float]
    notes: tuple[str, ...]


class Comparison:
    """The samples of a request, with the results of the function, for the files of all exporters."""

    def __init__(self, request: Request, given: tuple[tuple[Any, ...], ...]) -> None:
        self._request = request
        self._examples = Sample("the examples", request.arrays, request.want)
        reader = Reader(request)
        self._given = []
        for i, arguments in enumerate(given):
            _, arrays = reader.read(f"{request.call}: samples[{i}]", arguments)
            self._given.append(Sample(f"sample {i}", arrays, request.result(agreement.copied(arrays))))

    def compared(self, runner: Runner, tracer: Backend) -> Compared:
        """The differences. Raises `XArrayOpsError` if the file differs from the function."""
        request = self._request
        differences = {each.label: self._required(runner, each) for each in (self._examples, *self._given)}
        for proposal in other_values(request):
            found = self._first_usable(runner, tracer, [proposal]) if self._is_other(proposal) else None
            if found is not None:
                differences[proposal.label] = found
        for lengths in other_lengths(request):
            proposals = list(at_lengths(request, lengths))
            found = self._first_usable(runner, tracer, proposals)
            if found is not None:
                differences[proposals[0].label] = found
            elif not self._has_lengths(lengths):
                raise Unsupported(
                    f"no arguments could be made for {proposals[0].label}. Instead: samples=, with arguments"
                )
        return Compared(differences, tuple(self._notes(runner)))

    def _is_other(self, proposal: Proposal) -> bool:
        """Whether a proposal differs from the examples."""
        pairs = zip(self._request.arrays, proposal.arrays, strict=True)
        return any(x is not y and agreement.is_changed(x, y) for x, y in pairs)

    def _has_lengths(self, lengths: Iterable[str]) -> bool:
        """Whether the user gave samples in which the length of each of these axes differs from the examples."""
        sizes = self._request.sizes
        others = {
            name
            for sample in self._given
            for x, axes in zip(sample.arrays, self._request.axes, strict=True)
            for axis, name in axes.items()
            if int(x.shape[axis]) != sizes[name]
        }
        return others >= set(lengths)

    def _required(self, runner: Runner, sample: Sample) -> float:
        """The largest difference. Raises if it is too large, or if the file fails."""
        try:
            got = runner.result(self._request.own, sample.arrays)
        except XArrayOpsError:
            raise
        except Exception as error:  # the libraries that run files may raise anything
            raise XArrayOpsError(f"the file fails at {sample.label}: {_first_line(error)}") from error
        text = _difference(sample.want, got, self._request.result, sample.arrays)
        if text is not None:
            raise XArrayOpsError(f"the file is wrong at {sample.label}: {text}")
        return _largest(sample.want, got)

    def _first_usable(self, runner: Runner, tracer: Backend, proposals: Iterable[Proposal]) -> float | None:
        """The difference at the first proposal that the function accepts; None if there is none."""
        for proposal in proposals:
            sample = self._sample(proposal)
            if sample is not None:
                try:
                    return self._required(runner, sample)
                except XArrayOpsError as error:
                    # The traced library itself may differ there. Then the file must agree with that library.
                    found = self._of_tracer(runner, tracer, sample, error)
                    if found is not None:
                        return found
        return None

    def _sample(self, proposal: Proposal) -> Sample | None:
        """A sample with the result of the function; None if the function does not accept the arguments."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings for values that the user did not give
            try:
                want = self._request.result(agreement.copied(proposal.arrays))
            except Exception:  # the function may raise anything
                return None
        return Sample(proposal.label, proposal.arrays, want)

    def _of_tracer(self, runner: Runner, tracer: Backend, sample: Sample, error: XArrayOpsError) -> float | None:
        """The difference from the function called with arrays of the traced library; None if it raises there.

        Re-raises the error if the file differs from that too, or if that library is the caller's own.
        """
        request = self._request
        if tracer is request.own:
            raise error
        arrays = tuple(passed(x, tracer) for x in sample.arrays)
        try:
            want = request.result(arrays)
        except Exception:
            return None
        try:
            got = _hosted(runner.result(request.own, sample.arrays))
        except Exception:
            raise error from None
        text = _difference(_hosted(want), got, lambda given: _hosted(request.result(given)), arrays)
        if text is not None:
            raise error
        return _largest(_hosted(want), got)

    def _notes(self, runner: Runner) -> Iterator[str]:
        """Check NaN, infinities and short axes, where many files differ: differences are only reported."""
        arrays = not_finite(self._request)
        sample = None if arrays is None else self._sample(Proposal("", arrays))
        if sample is not None:
            text = self._odd(runner, sample)
            yield "agrees at NaN and infinities" if text is None else f"differs at NaN or infinities: {text}"
        for name in self._request.sizes:
            for n in (2, 1):
                sample = self._sample(Proposal("", mixed(self._request, {name: n})))
                text = None if sample is None else self._odd(runner, sample)
                if text is not None:
                    yield f"it is correct only for {name} > {n}: {text}"
                    break

    def _odd(self, runner: Runner, sample: Sample) -> str | None:
        """How the results differ; None if they agree."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                got = runner.result(self._request.own, sample.arrays)
                return agreement.difference(sample.want, got, self._request.result, sample.arrays)
            except Exception as error:  # a library may raise anything
                return _first_line(error)


def _difference(want: Any, got: Any, function: Callable[..., Any], arrays: tuple[Array, ...]) -> str | None:
    """How results differ where the function returns numbers: invalid values give NaN in some libraries."""
    text = agreement.difference(want, got, function, arrays, of_each=True)
    hidden = [] if text is None else [_is_nan(x) for x in arrays_of(want)]
    if not any(places.any() for places in hidden):
        return text

    def shown(result: Any) -> Any:
        places = iter(hidden)
        return fill(_hosted(result), lambda x: _without(x, next(places)) if is_array(x) else x)

    try:
        return agreement.difference(shown(want), shown(got), lambda given: shown(function(given)), arrays, of_each=True)
    except ValueError:  # other shapes
        return text


def _hosted(result: Any) -> Any:
    """The result with NumPy arrays."""
    return rebuilt(result, (find.of(x).functions["to_numpy"](x) for x in arrays_of(result)))


def _is_nan(x: Array) -> Any:
    import numpy as np

    values = np.asarray(agreement.host(x))
    return np.isnan(values) if values.dtype.kind in "fc" else np.zeros(values.shape, bool)


def _without(x: Any, places: Any) -> Any:
    import numpy as np

    return np.where(places, np.zeros((), x.dtype), x) if places.any() else x


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


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
