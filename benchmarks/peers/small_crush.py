"""SmallCrush, the quick battery of TestU01, on the random bits of `xarrayops.random`.

    python benchmarks/peers/small_crush.py [--streams NAME ...] [--out FILE]

It needs a C compiler and TestU01 (L'Ecuyer and Simard, ACM TOMS 33, 2007): the package libtestu01-0-dev of Debian. A C
program, compiled in a temporary folder, reads 32-bit words from a pipe.

The streams: both halves of successive 64-bit numbers of one key; successive 32-bit numbers; and one 64-bit number of
each of many generators that `spawn` makes, in turn, which finds correlations between them. Ends with 3 if a p-value is
outside of [0.001, 0.999], the interval of TestU01.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measuring import MISSED

import xarrayops as xo

PROGRAM = r"""
#include <stdio.h>
#include "unif01.h"
#include "bbattery.h"
#include "swrite.h"

static unsigned int words[1 << 16];
static size_t place, filled;

static unsigned int next(void) {
    if (place == filled) {
        filled = fread(words, sizeof words[0], sizeof words / sizeof words[0], stdin);
        place = 0;
    }
    return words[place++];
}

int main(int count, char **arguments) {
    unif01_Gen *generator = unif01_CreateExternGenBits(arguments[1], next);
    swrite_Basic = FALSE;
    bbattery_SmallCrush(generator);
    for (int i = 0; i < bbattery_NTests; i++)
        printf("p-value %-24s %.4f\n", bbattery_TestNames[i], bbattery_pVal[i]);
    return 0;
}
"""
LIBRARIES = ("-ltestu01", "-ltestu01probdist", "-ltestu01mylib", "-lm")
CHUNK = 1 << 20
GENERATORS = 1 << 12
"""The number of spawned generators whose numbers are interleaved."""


def wide() -> Iterator[Any]:
    """Both halves of the 64-bit numbers of one key, the lower one first."""
    for key in _calls():
        yield xo.random.bits(key, CHUNK).view(np.uint32)


def narrow() -> Iterator[Any]:
    """The 32-bit numbers of one key."""
    for key in _calls():
        yield xo.random.bits(key, CHUNK, dtype="uint32")


def spawned() -> Iterator[Any]:
    """One number of each spawned generator, in turn."""
    generators = xo.random.default_rng(1).spawn(GENERATORS)
    while True:
        numbers = np.stack([rng.bits(CHUNK // GENERATORS) for rng in generators], axis=1)
        yield numbers.reshape(-1).view(np.uint32)


def _calls() -> Iterator[Any]:
    """The keys of successive calls of one generator."""
    rng = xo.random.default_rng(0)
    while True:
        yield rng.key()


STREAMS: dict[str, Callable[[], Iterator[Any]]] = {"wide": wide, "narrow": narrow, "spawned": spawned}


def compiled(folder: Path) -> Path:
    """The program, compiled."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit("there is no C compiler cc")
    source, program = folder / "small_crush.c", folder / "small_crush"
    source.write_text(PROGRAM)
    include = ["-I/usr/include/testu01"]
    subprocess.run([compiler, "-O2", "-o", program, source, *include, *LIBRARIES], check=True)
    return program


def report(program: Path, name: str) -> str:
    """What the battery says about a stream."""
    with subprocess.Popen([program, f"xarrayops.random, {name}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        try:
            for words in STREAMS[name]():
                run.stdin.write(words.tobytes())
        except BrokenPipeError:  # the battery has ended
            pass
        lines = run.stdout.read().decode().splitlines()
    return "".join(f"{line}\n" for line in lines if line.strip())


def p_values(text: str) -> list[float]:
    """The p-values of a report."""
    return [float(line.split()[-1]) for line in text.splitlines() if line.startswith("p-value")]


def main() -> int:
    """Run the battery, print and write the reports. Returns `MISSED` if a p-value is suspect."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", nargs="+", choices=STREAMS, default=list(STREAMS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(folder))
        texts = [report(program, name) for name in options.streams]
    print("\n".join(texts))
    if options.out:
        options.out.write_text("\n".join(texts))
    found = [p for text in texts for p in p_values(text)]
    return MISSED if not found or not all(0.001 <= p <= 0.999 for p in found) else 0


if __name__ == "__main__":
    sys.exit(main())
