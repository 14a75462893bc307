"""Probes that need a device, each in a separate process, because a CUDA error is permanent for its process.

    python tests/gpu [--only NAME,NAME] [--out FILE] [--limit SECONDS] [--jobs N]
    python tests/gpu --list
    python tests/gpu --run NAME

A case is one line of JSON, written at once: probe, case, verdict (ok, refused, wrong, failed) and details. A probe that
dies or times out gets its own line and does not affect the others. Probes that an interrupt skips are "not run". Exit
status: 1 if a verdict is wrong or failed. Without an accelerator the probes run at small sizes on the CPU, as a test of
the probes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import IO, Any

JOBS = min(8, max(2, (os.cpu_count() or 1) // 2))
SEQUENTIAL = ("waits", "decoding")
"""Probes that measure time. They run one after the other, after all others."""
BAD = 3
"""The exit status of a probe with a verdict "wrong" or "failed". Python itself ends with 1 after an exception."""
INTERRUPTED = 130
SETTINGS = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "JAX_ENABLE_X64": "1", "PYTHONUNBUFFERED": "1"}
"""The environment of a probe, where nothing else is set."""
KERNELS = tuple(
    f"kernels-{library}-{dtype}" for dtype in ("float16", "bfloat16", "float32") for library in ("torch", "cupy", "jax")
)
ORDER = (
    *("devices", "placement", "alignment", "from_numpy", "pinned", "lifetime", "strides"),
    *("native", "draws", "integers", "quantised", "streams", "graphs", "several"),
    *(*KERNELS, "softcaps", "masks", "gradients", "compiled", "transformed", "engines", *SEQUENTIAL),
)


def probes() -> dict[str, Any]:
    """The probes by name."""
    import attention
    import exchange
    import kernels
    import waiting

    return {p.__name__: p for module in (exchange, kernels, attention, waiting) for p in module.PROBES}


def run(name: str) -> int:
    """Run one probe in this process."""
    from report import Probe

    probe = Probe(name)
    probes()[name](probe)
    return BAD if probe.bad else 0


def isolated(name: str, limit: float, write: Any) -> bool:
    """Run one probe in a separate process and return whether it passed."""
    command = [sys.executable, str(Path(__file__).parent), "--run", name]
    environment = {**SETTINGS, **os.environ}
    start, lines = time.monotonic(), []

    def read(output: IO[str]) -> None:
        for line in output:
            lines.append(line)
            write(line)

    with (
        subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
        ThreadPoolExecutor(2) as pool,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        reading, errors = pool.submit(read, process.stdout), pool.submit(process.stderr.read)
        try:
            status = process.wait(limit)
            ended = "" if status in (0, BAD) else f"ended with {status}"
        except subprocess.TimeoutExpired:
            process.kill()
            status, ended = process.wait(), f"took more than {limit:.0f} s"
        reading.result()
        tail = errors.result()[-800:]
    found: dict[str, Any] = {"probe": name, "case": "the process", "verdict": "failed" if ended else "ended"}
    if ended:
        last: dict[str, Any] = {}
        with suppress(ValueError, IndexError):  # the last line may be incomplete
            last = json.loads(lines[-1])
        found |= {"reason": ended, "stderr": tail, "after": {key: last.get(key) for key in ("case", "kernel")}}
    write(json.dumps(found | {"seconds": round(time.monotonic() - start, 1)}) + "\n")
    return status == 0


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python tests/gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=lambda text: text.split(","), default=ORDER, metavar="NAME,NAME")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also append the lines to this file")
    parser.add_argument(
        "--limit", type=float, default=90.0, metavar="SECONDS", help="time limit of a probe (default: %(default)s)"
    )
    parser.add_argument(
        "--jobs", type=int, default=JOBS, metavar="N", help="number of parallel probes (default: %(default)s)"
    )
    parser.add_argument("--list", action="store_true", help="list the probes, then exit")
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
        parser.error(f"no probe {', '.join(unknown)}; the probes are {', '.join(ORDER)}")
    lock = Lock()

    def write(line: str) -> None:
        with lock:
            print(line, end="", flush=True)
            if options.out:
                with options.out.open("a") as file:
                    file.write(line)

    chosen = [name for name in ORDER if name in options.only]
    waiting = set(chosen)

    def begin(name: str) -> bool:
        waiting.discard(name)
        return isolated(name, options.limit, write)

    pool = ThreadPoolExecutor(options.jobs)
    try:
        right = list(pool.map(begin, [name for name in chosen if name not in SEQUENTIAL]))
        right += [begin(name) for name in chosen if name in SEQUENTIAL]
    except KeyboardInterrupt:
        for name in filter(waiting.__contains__, chosen):
            write(json.dumps({"probe": name, "case": "the process", "verdict": "not run"}) + "\n")
        os._exit(INTERRUPTED)  # without waiting for the probes that still run
    return int(not all(right))


if __name__ == "__main__":
    sys.exit(main())
