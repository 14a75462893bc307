"""The compiled function of a native kernel, called with results between other values: it may write only these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from xarrayops._core.backends.registry import Backend
from xarrayops._ops.operations.native import Native
from xarrayops.plugin.candidates import Call
from xarrayops.plugin.native import Results, eager_kernel
from xarrayops.testing._operations._call import Expected, quietly, value_faults
from xarrayops.testing._operations._placements import between_poison, poison
from xarrayops.testing._operations._samples import Sample


def native_faults(native: Native, sample: Sample, numpy: Backend, want: Expected) -> Iterator[str]:
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
