"""The time of `xarrayops.conv2d` and `xarrayops.max_pool2d`, next to PyTorch's functions on the same threads.

    python benchmarks/peers/convolution.py [--rounds 15] [--scale 1.0] [--out FILE]

The contestants are ours on NumPy, PyTorch and JAX arrays, and PyTorch's own function. The results are equal before
anything is measured. The bars: for 32 images of 64 channels and 56 by 56 points with 64 kernels of 3 by 3, NumPy takes
at most 1.5 times as long as PyTorch's own; for pooling with channels first, tensors take at most half as long. Ends
with 3 if one is missed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import torch
from measuring import MISSED, common_options, interleaved, machine

import xarrayops as xo

BAR, BAR_OF_POOLING = 1.5, 0.5
CALLS_OF_POOLING = 20
"""A reading is their mean: a single call takes a third of a millisecond, and the first one wakes the threads."""
CASES: dict[str, tuple[tuple[int, ...], tuple[int, ...] | int, dict[str, Any]]] = {
    # The extents of the images, those of the weights or of the window, and the options.
    "3x3": ((32, 64, 56, 56), (64, 64, 3, 3), {"padding": 1}),
    "1x1": ((32, 64, 56, 56), (256, 64, 1, 1), {}),
    "7x7, stride 2": ((16, 3, 224, 224), (64, 3, 7, 7), {"stride": 2, "padding": 3}),
    "5x5, one image": ((1, 32, 128, 128), (64, 32, 5, 5), {"padding": 2}),
    "depthwise 3x3": ((16, 64, 56, 56), (64, 1, 3, 3), {"padding": 1, "groups": 64}),
    "max pool 2x2": ((8, 64, 56, 56), 2, {}),
    "max pool 3x3, stride 2": ((8, 64, 56, 56), 3, {"stride": 2, "padding": 1}),
}
PEER = "torch's own"


def contestants(x: Any, w: Any, options: dict[str, Any], layout: str) -> dict[str, Callable[[], Any]]:
    """The calls, by name; each gives an array in the layout. w has the weights, or is the window of a pooling."""
    last = layout == "NHWC"
    images = np.ascontiguousarray(np.moveaxis(x, 1, -1)) if last else x
    name = "max_pool2d" if isinstance(w, int) else "conv2d"
    verb, own = getattr(xo, name), getattr(torch.nn.functional, name)
    calls: dict[str, Callable[[], Any]] = {}
    for library in ("numpy", "torch", "jax"):
        native = [a if isinstance(a, int) else xo.convert(a, library, copy=True) for a in (images, w)]
        call = partial(verb, *native, layout=layout, **options)
        calls[library] = (lambda call=call: call().block_until_ready()) if library == "jax" else call
    first = torch.from_numpy(x).to(memory_format=torch.channels_last if last else torch.contiguous_format)
    calls[PEER] = partial(own, first, w if isinstance(w, int) else torch.from_numpy(w), **options)
    return calls


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = common_options(__doc__, rounds=15, pause=0.05, only=True)
    parser.add_argument("--scale", type=float, default=1.0, help="the part of the images and points")
    options = parser.parse_args()
    random = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for name, (shape, window, given) in CASES.items():
        if options.only not in name:
            continue
        batch, channels, *space = shape
        scaled = (max(1, int(batch * options.scale)), channels, *(max(8, int(n * options.scale)) for n in space))
        x = random.standard_normal(scaled, np.float32)
        w = window if isinstance(window, int) else random.standard_normal(window, np.float32)
        for layout in ("NCHW", "NHWC"):
            calls = contestants(x, w, given, layout)
            want = calls[PEER]().numpy()
            want = np.moveaxis(want, 1, -1) if layout == "NHWC" else want
            for who, call in calls.items():
                if who != PEER:
                    np.testing.assert_allclose(np.asarray(call()), want, rtol=1e-3, atol=1e-3)
            number = CALLS_OF_POOLING if isinstance(window, int) else 1
            times = interleaved(calls, options.rounds, options.pause, number=number)
            ratios = {
                who: round(median(a / b for a, b in zip(each, times[PEER], strict=True)), 3)
                for who, each in times.items()
                if who != PEER
            }
            rows.append({"case": name, "layout": layout, "over torch's own": ratios})
            print(f"{name:16} {layout}: " + ", ".join(f"{who} {ratio}" for who, ratio in ratios.items()), flush=True)
    first = {row["case"]: row["over torch's own"] for row in rows if row["layout"] == "NCHW"}
    is_missed = any(each["numpy"] > BAR for name, each in first.items() if name == "3x3")
    is_missed |= any(each["torch"] > BAR_OF_POOLING for name, each in first.items() if name.startswith("max pool"))
    if options.out:
        bars = {"bar": BAR, "bar of pooling": BAR_OF_POOLING}
        text = {"machine": machine(("jax", "numpy", "torch")), **bars, "rows": rows}
        options.out.write_text(json.dumps(text, indent=1) + "\n")
    return MISSED if is_missed else 0


if __name__ == "__main__":
    sys.exit(main())
