"""The spectrogram of transformers through ``rewrite --vectorize`` and `xo.jit`, next to the original on NumPy.

    python benchmarks/peers/spectrogram.py [--program FILE] [--rounds 15] [--seconds 1,10,30] [--out FILE]

pip downloads transformers, of which the functions for spectrograms are taken as they are; ``--program`` is another file
with functions of these names. No line is changed by hand. `xarrayops.testing.verify` compares the compiled port with
the original before anything is measured. Then the original, the port on NumPy and the port under `xo.jit` with each
engine run on the same signal of 16 kHz: 80 mel bands of 512-point transforms. Each contestant is interleaved with the
original alone, because large arrays of one leave the heap of the process as the next finds it. A reading is the mean of
thirty calls: programs transform many signals one after the other. Before each reading is a pause of 0.1 s: after a
product the threads of OpenBLAS wait actively for so long, and would take the cores of the next contestant. A ratio is
the time of the original divided by that of the contestant, the median over the rounds.

The bar: the port that the faster engine compiles is at least 4 times as fast as the original for signals of 10 s and
longer. Ends with 3 if it is missed.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import jax
import numpy as np
from measuring import MISSED, common_options, interleaved, machine, over

import xarrayops as xo
from xarrayops.port import rewrite
from xarrayops.port.loading import loaded
from xarrayops.port.vectorizing.offers import KIND
from xarrayops.testing import verify

REQUIREMENT, MEMBER = "transformers==5.24.0", "transformers/audio_utils.py"
NAMES = ("hertz_to_mel", "mel_to_hertz", "_create_triangular_filter_bank", "mel_filter_bank", "window_function")
NAMES += ("spectrogram", "power_to_db", "amplitude_to_db")
ENGINES = ("jax", "torch")
RATE, FASTER, LONG_S, CALLS = 16_000, 4.0, 10, 30
FILTERS = f"mel_filter_bank(257, 80, 0.0, 8000.0, {RATE}, norm='slaney', mel_scale='slaney')"
OPTIONS = f"fft_length=512, power=2.0, mel_filters={FILTERS}, log_mel='log10'"
CALL = f"spectrogram(np.random.default_rng(0).normal(size={RATE}), window_function(400), 400, 160, {OPTIONS})"


def downloaded(folder: Path) -> str:
    """The text of the file of transformers."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder), REQUIREMENT]
    subprocess.run(pip, check=True)
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).read(MEMBER).decode()


def program(text: str) -> str:
    """The functions for spectrograms of a file, as they are, without what it imports for other functions."""
    functions = (each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef) and each.name in NAMES)
    parts = (ast.get_source_segment(text, each) or "" for each in functions)
    return "\n\n\n".join(["import warnings\n\nimport numpy as np", *parts]) + "\n"


def main() -> int:
    """Measure, print and write the results. Returns `MISSED` if the bar is missed."""
    parser = common_options(__doc__, rounds=15, pause=0.1)
    parser.add_argument("--program", type=Path, metavar="FILE")
    parser.add_argument("--seconds", default="1,10,30", help="the lengths of the signal, separated by commas")
    options = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    with tempfile.TemporaryDirectory() as work, ExitStack() as modules:
        text = downloaded(Path(work)) if options.program is None else options.program.read_text(encoding="utf-8")
        path = Path(work, "audio.py")
        path.write_text(program(text), encoding="utf-8")
        result = rewrite(path, vectorize=True, call=CALL)
        original, port = loaded(path, "original", modules), loaded(path, "port", modules, result.text)
        loops = sum(each.kind == KIND for each in result.edits)
        rows = [row(original, port, float(each), options) for each in options.seconds.split(",")]
    if options.out:
        load = {"load average": round(os.getloadavg()[0], 1), "BLAS threads": os.environ.get("OMP_NUM_THREADS", "all")}
        data = {
            "machine": machine(("numpy", *ENGINES)) | load,
            "program": REQUIREMENT,
            "vectorized loops": loops,
            "rows": rows,
        }
        options.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    fastest = (max(each["times as fast"][engine] for engine in ENGINES) for each in rows)
    is_missed = any(each < found.get("at least", 0.0) for each, found in zip(fastest, rows, strict=True))
    return MISSED if is_missed else 0


def row(original: Any, port: Any, seconds: float, options: Any) -> dict[str, Any]:
    """The times for a signal, after the comparison of the results."""
    signal = np.random.default_rng(0).normal(size=int(RATE * seconds))
    window, filters = original.window_function(400), eval(FILTERS, vars(original))

    def of(module: Any) -> Callable[..., Any]:
        return lambda x, window, filters: module.spectrogram(
            x, window, 400, 160, fft_length=512, power=2.0, mel_filters=filters, log_mel="log10"
        )

    compiled = {engine: xo.jit(of(port), engine=engine) for engine in ENGINES}
    given = signal, window, filters
    for each in compiled.values():
        verify(each, *given, expected=of(original), libraries=["numpy"], replay=False).raise_if_different()
    first = partial(of(original), *given)
    times: dict[str, list[float]] = {}
    ratios = {}
    for name, function in {"port": of(port), **compiled}.items():
        calls = {"original": first, name: partial(function, *given)}
        times |= (pair := interleaved(calls, options.rounds, options.pause, number=CALLS))
        ratios[name] = round(1 / over(pair, "original")[name], 2)
    found: dict[str, Any] = {
        "seconds of signal": seconds,
        "median ms": {name: round(1e3 * median(each), 3) for name, each in times.items()},
        "least ms": {name: round(1e3 * min(each), 3) for name, each in times.items()},
        "times as fast": ratios,
    }
    found |= {"at least": FASTER} if seconds >= LONG_S else {}
    print(json.dumps(found), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
