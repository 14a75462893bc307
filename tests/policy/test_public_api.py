"""Public names and signatures do not change: programs written for the reference revision still run.

`public_api.json` was written by tools/public_api.py at revision 8c4561a.
"""

import json
import runpy
from pathlib import Path

HERE = Path(__file__).parent
public_api = runpy.run_path(str(HERE.parents[1] / "tools" / "public_api.py"))["public_api"]
REFERENCE = json.loads((HERE / "public_api.json").read_text())
IMPROVED = {
    "BuildError": "error",
    "CrossingError": "error",
    "InvalidArguments": "error",
    "NotAnArray": "error",
    "carried": "(function, /)",
    "argwhere": "(x, /)",
    **dict.fromkeys(
        ("bartlett", "blackman", "hamming", "hanning"),
        "(n, /, *, periodic=False, dtype=None, device=None, like=None, backend=None)",
    ),
    "kaiser": "(n, beta, /, *, periodic=False, dtype=None, device=None, like=None, backend=None)",
    "convert": "(x, to, /, *, device=None, copy=None, dtype=None)",
    "erf": "(x, /)",
    "log_softmax": "(x, /, *, axis=-1)",
    "sigmoid": "(x, /)",
    "nanargmax": "(x, /, *, axis=None, keepdims=False)",
    "nanargmin": "(x, /, *, axis=None, keepdims=False)",
    "on_host": "(function, /, *, result=None)",
    "operation": "(name, /, *, blockwise=None)",
    "Candidate": "class(name, ok, reason, copies, moves, holds, sharding)",
    "Sharding": "class(engine, mesh, spec, shape, shard_shape, shard_bytes, pieces, partial, addressable, is_complex)",
    "limits": "class(*, moves=None, holds=None)",
    "profile": "class(*, show=True, inside='')",
    "set_default": "(backend=None, /, *, device=None, dtype=None)",
    "shard": "(x, spec, /, *, mesh=None, like=None, backend=None)",
    "sharding_of": "(x, /)",
    "sliding_window_view": "(x, /, window_shape, axis=None, *, step=1)",
    "sparse.astype": "(s, dtype, /)",
    "choices": "class(file=None, *, numerics='exact')",
    "measured": "class(*, numerics='exact')",
    "sparse.divide": "(s, b, /)",
    "sparse.mean": "(s, /, *, axis=None)",
    "sparse.subtract": "(a, b, /)",
    "sparse.topk": "(s, k, /, *, axis=-1, largest=True)",
    "split": "(x, indices_or_sections, /, *, axis=0)",
    "strict": "class(*, transfers=0, waits=None, computes=0)",
    "unique": "(x, /, *, return_index=False, return_inverse=False, return_counts=False, axis=None)",
    "use": "class(backend=None, /, *, device=None, dtype=None)",
}
"""New names, and names whose signature was changed on purpose, with their current signature."""


def test_names_and_signatures_equal_the_reference():
    assert public_api() == REFERENCE | IMPROVED


def test_the_reference_is_complete():
    names = {"add", "attention", "linalg.svd", "fft.fftn", "sparse.from_dense", "float32", "MixedBackends"}
    assert names <= REFERENCE.keys()
    assert REFERENCE["relayout"] == "(x, pattern, /, *, channels=None)"
    assert len(REFERENCE) > 200
