"""Probes of time on the host: queries about an array must not wait for its values."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from report import Probe, Wrong, accelerated, libraries, on, seconds

import xarrayops as xo

MOST = 0.2
"""The largest time of a query, relative to the queued work."""


def waits(probe: Probe) -> None:
    """``xo.device`` and ``xo.layout_of`` while matrix products are queued."""
    for library in libraries():

        def asked(library: str = library) -> dict[str, Any]:
            order, products = (4096, 50) if accelerated(library) else (64, 5)
            a = on(library, np.full((order, order), 1 / order, np.float32))

            def queue() -> Any:
                x = a
                for _ in range(products):
                    x = xo.matmul(x, a)
                return x

            work = seconds(queue)
            x = queue()
            start = time.perf_counter()
            xo.device(x)
            xo.layout_of(x)
            held = time.perf_counter() - start
            xo.synchronize(x)
            if accelerated(library) and held > MOST * work:
                raise Wrong(f"the queries took {held * 1e3:.2f} ms, the queued work {work * 1e3:.2f} ms")
            return {"work_ms": round(work * 1e3, 2), "queries_ms": round(held * 1e3, 2)}

        probe.examine(library, asked)


PROBES = (waits,)
