"""Probes of everything that only a device can show, each in a process of its own: a CUDA fault outlives its call.

    python tests/gpu [--only NAME,NAME] [--out FILE] [--limit SECONDS] [--jobs N]
    python tests/gpu --list
    python tests/gpu --run NAME

A case is one line of JSON, written as soon as it is known: probe, case, verdict (ok, refused, wrong, failed), and what
was found. A probe that dies or takes too long is a line of its own, and stops no other. Ends with 1 if a verdict is
wrong or failed. Without an accelerator the probes run at small sizes on the CPU, which shows that they run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

JOBS = min(8, max(2, (os.cpu_count() or 1) // 2))
ALONE = ("decoding", "waits", "lifetime")
"""Those that measure time, or need the device to themselves: they run one after the other, when the rest is done."""
KERNELS = tuple(
    f"kernels-{library}-{dtype}" for dtype in ("float16", "bfloat16", "float32") for library in ("torch", "cupy", "jax")
)
ORDER = (
    *("devices", "placement", "alignment", "from_numpy", "pinned", "strides"),
    *(*KERNELS, "masks", "gradients", "compiled", "transformed", "engines", *ALONE),
)


def probes() -> dict[str, Any]:
    """The probes by name."""
    import attention
    import exchange
    import waiting

    return {p.__name__: p for module in (exchange, attention, waiting) for p in module.PROBES}


def run(name: str) -> int:
    """Run one probe in this process."""
    from report import Probe

    probe = Probe(name)
    probes()[name](probe)
    return int(probe.bad > 0)


def apart(name: str, limit: float, write: Any) -> bool:
    """Run one probe in a process of its own; whether all is right."""
    settings = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "JAX_ENABLE_X64": "1", "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, str(Path(__file__).parent), "--run", name]
    process = subprocess.Popen(
        command, env={**settings, **os.environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    start, lines = time.monotonic(), []

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line)
            write(line)

    with ThreadPoolExecutor(2) as pool:
        reading = pool.submit(read)
        errors = pool.submit(process.stderr.read)  # type: ignore[union-attr]
        try:
            status = process.wait(limit)
            ended = "" if status == 0 or (status == 1 and lines) else f"ended with {status}"
        except subprocess.TimeoutExpired:
            process.kill()
            status, ended = process.wait(), f"took more than {limit:.0f} s"
        reading.result()
        tail = errors.result()[-800:]
    found: dict[str, Any] = {"probe": name, "case": "the process", "verdict": "failed" if ended else "ended"}
    if ended:
        last = json.loads(lines[-1]) if lines else {}
        found |= {"reason": ended, "stderr": tail, "after": {key: last.get(key) for key in ("case", "kernel")}}
    write(json.dumps(found | {"seconds": round(time.monotonic() - start, 1)}) + "\n")
    return status == 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python tests/gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=ORDER, metavar="NAME,NAME")
    parser.add_argument("--out", type=Path, metavar="FILE", help="append the lines to a file, too")
    parser.add_argument("--limit", type=float, default=90.0, metavar="SECONDS", help="for each probe (%(default)s)")
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N", help="probes at a time (%(default)s)")
    parser.add_argument("--list", action="store_true", help="list the probes, and end")
    parser.add_argument("--run", choices=ORDER, metavar="NAME", help="run one probe in this process")
    options = parser.parse_args()
    if options.run:
        return run(options.run)
    if options.list:
        known = probes()
        for name in ORDER:
            print(f"{name:22s} {known[name].__doc__.splitlines()[0]}")
        return 0
    unknown = sorted({*options.only} - {*ORDER})
    if unknown:
        parser.error(f"no probe {', '.join(unknown)}; there are {', '.join(ORDER)}")
    lock = Lock()

    def write(line: str) -> None:
        with lock:
            print(line, end="", flush=True)
            if options.out:
                with options.out.open("a") as file:
                    file.write(line)

    chosen = [name for name in ORDER if name in options.only]
    with ThreadPoolExecutor(options.jobs) as pool:
        right = list(pool.map(lambda name: apart(name, options.limit, write), [n for n in chosen if n not in ALONE]))
    right += [apart(name, options.limit, write) for name in chosen if name in ALONE]
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
