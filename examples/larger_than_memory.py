"""PCA and quantiles of a folder of ``.npy`` files that is larger than memory, on a Dask cluster and on a JAX mesh.

    python examples/larger_than_memory.py                            # 2.4 GB of files, 2 workers of 300 MB
    python examples/larger_than_memory.py --gigabytes 0.1            # a quick look
    python examples/larger_than_memory.py --folder /shared/data --scheduler tcp://host:8786

Without ``--folder`` it writes random numbers into a temporary folder, and removes it at the end. Without
``--scheduler`` it starts a cluster on this machine, whose two workers have 300 MB each. The workers of another cluster
must see the folder, and have xarrayops. Then the same functions run on a JAX mesh of 8 CPU devices. They share the
memory of this machine, so they get the first rows. NumPy computes the results of these rows too.

It needs ``pip install 'dask[array,distributed]'`` and JAX; what is missing is left out.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import xarrayops as xo

COLUMNS, FILES, CHUNK = 64, 16, 8_000_000
WORKERS, MEMORY = 2, "300MB"
MESH, ON_MESH = {"rows": 8}, 16_000
TAKEN = (0.05, 0.5, 0.95)


def principal_components(x: Any, count: int) -> tuple[Any, Any]:
    """The largest variances of the rows of x along a direction, and these directions as rows."""
    mean = xo.asarray(xo.compute(xo.mean(x, axis=0)), like=x)  # computed now: else all chunks of x wait for the mean
    centred = xo.subtract(x, mean)
    covariance = xo.divide(xo.matmul(xo.matrix_transpose(centred), centred), max(x.shape[0] - 1, 1))
    variances, directions = xo.linalg.eigh(covariance)
    return xo.flip(variances)[:count], xo.flip(xo.matrix_transpose(directions), axis=0)[:count, :]


def quantiles(x: Any) -> Any:
    """The exact quantiles of each column of x."""
    return xo.quantile(x, xo.asarray(TAKEN, like=x, dtype=x.dtype), axis=0)


def results(x: Any) -> tuple[Any, Any, Any]:
    """The variances, the directions and the quantiles as NumPy arrays."""
    variances, directions = xo.compute(*principal_components(x, 3))
    return tuple(xo.convert(y, "numpy") for y in (variances, directions, xo.compute(quantiles(x))))


def opened(folder: Path) -> Any:
    """The rows of all files as one Dask array in chunks of about 8 MB. Nothing is read."""
    parts = []
    for path in sorted(folder.glob("*.npy")):
        part = np.load(path, mmap_mode="r")
        parts.append(xo.shard(part, ("rows",), mesh={"rows": part.nbytes // CHUNK + 1}, backend="dask"))
    return xo.concat(parts)


def write(folder: Path, gigabytes: float) -> None:
    """Files of float32 rows, in which some directions vary more than others."""
    rng = np.random.default_rng(0)
    mixed = (rng.normal(size=(COLUMNS, COLUMNS)) * np.geomspace(4, 0.1, COLUMNS)[:, None]).astype("float32")
    rows = int(gigabytes * 1e9 / FILES / COLUMNS / 4)
    for i in range(FILES):
        np.save(folder / f"part{i:02}.npy", rng.standard_normal((rows, COLUMNS), dtype="float32") @ mixed + 5)


def peak() -> float:
    """The most memory that this process has used, in MB; Linux reports it."""
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))
    return int(found[1]) * 1024 / 1e6 if found else float("nan")


def on_dask(folder: Path, scheduler: str | None) -> None:
    """The results of all files, on a cluster; and what its workers needed."""
    from distributed import Client, LocalCluster

    local = {"n_workers": WORKERS, "threads_per_worker": 1, "memory_limit": MEMORY, "silence_logs": "ERROR"}
    with Client(scheduler) if scheduler else Client(LocalCluster(**local, dashboard_address=":0")) as client:
        x = opened(folder)
        q = xo.asarray(TAKEN, like=x, dtype=x.dtype)
        print(f"Dask: {x.nbytes / 1e9:.2f} GB in {x.npartitions} chunks")
        print(xo.explain("quantile", x, q, axis=0))
        show(results(x))
        if Path("/proc/self/status").exists():
            print("    peak memory of the workers:", *(f"{used:.0f} MB" for used in client.run(peak).values()))


def on_jax(rows: Any) -> None:
    """The results of some rows, on a mesh of CPU devices, and NumPy's."""
    import jax

    jax.config.update("jax_num_cpu_devices", MESH["rows"])  # on a real mesh: leave this line out
    x = xo.shard(rows, ("rows",), mesh=MESH, backend="jax")
    print(f"JAX: {x.nbytes / 1e6:.1f} MB on {xo.sharding_of(x).pieces} devices")
    show(results(x))
    print("NumPy: the same rows")
    show(results(np.asarray(rows)))


def show(found: tuple[Any, Any, Any]) -> None:
    """Print the variances, and the quantiles of the first column."""
    variances, _, columns = found
    print("    variances", *(f"{v:.1f}" for v in variances), "  quantiles", *(f"{q:.3f}" for q in columns[:, 0]))


def main(folder: Path, scheduler: str | None) -> None:
    """Run the functions on what is installed."""
    for library in ("distributed", "jax"):
        if not find_spec(library):
            print(f"{library} is not installed, and its part is left out")
    if find_spec("distributed"):
        on_dask(folder, scheduler)
    if find_spec("jax"):
        first = np.load(min(folder.glob("*.npy")), mmap_mode="r")
        on_jax(first[: min(ON_MESH, len(first) // MESH["rows"] * MESH["rows"])])  # shards of equal sizes


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--gigabytes", type=float, default=2.4, help="the size of the files that are written")
    parser.add_argument("--folder", type=Path, help="a folder of .npy files with the same columns")
    parser.add_argument("--scheduler", help="the address of a Dask scheduler")
    given = parser.parse_args()
    if given.folder:
        sys.exit(main(given.folder, given.scheduler))
    with tempfile.TemporaryDirectory() as temporary:
        write(Path(temporary), given.gigabytes)
        main(Path(temporary), given.scheduler)
