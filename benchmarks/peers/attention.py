"""Attention: xarrayops compared with the formula in NumPy and the functions of PyTorch and JAX, in one run.

    python benchmarks/peers/attention.py [--rounds 15] [--only TEXT] [--scale 1] [--out FILE]

Contestants are interleaved within each round, after a pause in which the idle threads of PyTorch stop spinning, and
after an untimed call. Times are medians of the rounds; ratios are medians of the ratios within a round. Results are
compared before timing. All contestants use all cores. Memory is measured in a separate process for each case: the
growth of the peak resident set during a second call.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from measuring import Calls, common_options, interleaved, machine, over, peak

import xarrayops as xo

LONG = 16384
WINDOW = 256
SOFTCAP = 30.0
TINY_CALLS = 2000
SEED = np.random.default_rng(0)


class Shape(NamedTuple):
    """Batch, query heads, key heads, queries, keys, head size."""

    batch: int
    heads: int
    shared: int
    queries: int
    keys: int
    size: int

    def arrays(self, scale: int) -> list[Any]:
        """q, k and v of that shape, with sequences divided by ``scale``."""
        b, h, s, i, j, d = self
        i, j = max(1, i // scale), max(1, j // scale)
        return [SEED.standard_normal(shape, "float32") for shape in ((b, h, i, d), (b, s, j, d), (b, s, j, d))]


PLAIN = Shape(1, 8, 8, 2048, 2048, 64)
DECODE = Shape(1, 32, 8, 1, 4096, 64)
TINY = Shape(1, 2, 2, 8, 8, 16)


def formula(q: Any, k: Any, v: Any, *, causal: bool = False, window: int | None = None, softcap: float = 0) -> Any:
    """The formula of attention in vectorised NumPy, with all scores in one array."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v)) if k.shape[1] < q.shape[1] else (k, v)
    s = q @ k.swapaxes(-1, -2) * np.float32(q.shape[-1] ** -0.5)
    if softcap:
        s = np.tanh(s / np.float32(softcap)) * np.float32(softcap)
    if causal or window is not None:
        s = np.where(band(q.shape[2], k.shape[2], window), s, -np.inf)
    s -= s.max(axis=-1, keepdims=True)
    np.exp(s, out=s)
    s /= s.sum(axis=-1, keepdims=True)
    return s @ v


def band(queries: int, keys: int, window: int | None) -> Any:
    """The causal mask, with or without a window."""
    seen = np.tril(np.ones((queries, keys), bool))
    return seen if window is None else np.triu(seen, -window)


def on_numpy(q: Any, k: Any, v: Any, **options: Any) -> Calls:
    """Contestants on NumPy arrays: our kernel, the formula, and PyTorch's flash attention on the same memory."""
    asked = {"window": (options["window"], 0)} if "window" in options else options
    found: Calls = {
        "ours": lambda: xo.attention(q, k, v, **asked),
        "numpy": partial(formula, q, k, v, **options),
    }
    if importlib.util.find_spec("torch") and not options.keys() & {"softcap"}:
        found["torch"] = sdpa(q, k, v, **options)
    if importlib.util.find_spec("jax") and not options:

        def by_jax() -> Any:
            with xo.engines("jax"):
                return xo.attention(q, k, v)

        found["ours by jax"] = by_jax
    return found


def sdpa(q: Any, k: Any, v: Any, *, causal: bool = False, window: int | None = None) -> Callable[[], Any]:
    """PyTorch's scaled dot-product attention; a window is a mask."""
    import torch

    q, k, v = (torch.as_tensor(x) for x in (q, k, v))
    options: dict[str, Any] = {"is_causal": causal, "enable_gqa": k.shape[1] < q.shape[1]}
    if window is not None:
        options = {"attn_mask": torch.as_tensor(band(q.shape[2], k.shape[2], window))[None, None]}
    return partial(torch.nn.functional.scaled_dot_product_attention, q, k, v, **options)


def on_torch(q: Any, k: Any, v: Any, **options: Any) -> Calls:
    """Contestants on CPU tensors: ours, PyTorch, and PyTorch again for the spread of the measurement."""
    import torch

    tensors = [torch.from_numpy(x) for x in (q, k, v)]
    if "softcap" in options:
        return {
            "ours": lambda: xo.attention(*tensors, softcap=SOFTCAP),
            "torch": lambda: eager_softcap(*tensors),
        }
    if "lengths" in options:
        filled = torch.tensor([k.shape[2] * 3 // 4])
        mask = (torch.arange(k.shape[2]) < filled)[None, None, None]
        own = partial(torch.nn.functional.scaled_dot_product_attention, *tensors, mask, enable_gqa=True)
        return {"ours": lambda: xo.attention(*tensors, kv_lengths=filled), "torch": own}
    asked = {"window": (options["window"], 0)} if "window" in options else options
    own = sdpa(*tensors, **options)
    return {"ours": lambda: xo.attention(*tensors, **asked), "torch": own, "torch again": own}


def eager_softcap(q: Any, k: Any, v: Any) -> Any:
    """The formula as separate operations."""
    scores = (q @ k.mT * q.shape[-1] ** -0.5 / SOFTCAP).tanh() * SOFTCAP
    return scores.softmax(-1) @ v


def on_jax(q: Any, k: Any, v: Any) -> Calls:
    """Contestants on JAX arrays, each compiled with jax.jit."""
    import jax

    bhsd = [jax.numpy.asarray(x) for x in (q, k, v)]
    bshd = [jax.numpy.asarray(x.swapaxes(1, 2).copy()) for x in (q, k, v)]
    ours, theirs = jax.jit(xo.attention), jax.jit(jax.nn.dot_product_attention)
    return {
        "ours": lambda: jax.block_until_ready(ours(*bhsd)),
        "jax": lambda: jax.block_until_ready(theirs(*bshd)).swapaxes(1, 2),
    }


class Case(NamedTuple):
    """A shape, the contestants, and the required ratio of each contestant's time to ours."""

    name: str
    shape: Shape
    contestants: Callable[..., Calls]
    options: dict[str, Any]
    asked: dict[str, float]


CASES = (
    Case("numpy plain", PLAIN, on_numpy, {}, {"numpy": 2.0, "torch": 0.8, "torch over ours by jax": 1.2}),
    Case("numpy causal", PLAIN, on_numpy, {"causal": True}, {}),
    Case("numpy window", PLAIN, on_numpy, {"window": WINDOW}, {}),
    Case("numpy softcap", PLAIN, on_numpy, {"softcap": SOFTCAP}, {}),
    Case("numpy decode", DECODE, on_numpy, {}, {}),
    Case("torch plain", PLAIN, on_torch, {}, {"torch": 0.97}),
    Case("torch causal", PLAIN, on_torch, {"causal": True}, {}),
    Case("torch tiny", TINY, on_torch, {}, {}),
    Case("torch softcap", PLAIN, on_torch, {"softcap": SOFTCAP}, {"torch": 2.0}),
    Case("torch window", PLAIN, on_torch, {"window": WINDOW}, {"torch": 2.0}),
    Case("torch decode", DECODE, on_torch, {}, {"torch": 0.95}),
    Case("torch decode, lengths", DECODE, on_torch, {"lengths": True}, {"torch": 0.77}),
    Case("jax plain", PLAIN, on_jax, {}, {"jax": 3.0}),
    Case("jax decode", DECODE, on_jax, {}, {"jax": 0.95}),
)
MEMORY = ("numpy", "dask", "torch", "torch backward", "jax", "jax backward")
MEMORY_MB = 64


def measure(case: Case, rounds: int, pause: float, scale: int) -> dict[str, Any]:
    """Milliseconds by contestant, and the ratios of the others' times to ours."""
    calls = case.contestants(*case.shape.arrays(scale), **case.options)
    results = {name: np.asarray(call()) for name, call in calls.items()}
    for name, got in results.items():
        np.testing.assert_allclose(got, results["ours"], rtol=2e-4, atol=2e-5, err_msg=f"{case.name}: {name}")
    number = TINY_CALLS // scale if case.shape is TINY else 1
    times = interleaved(calls, rounds, pause, number=number)
    ratios = over(times)
    if "ours by jax" in times:
        own = zip(times["torch"], times["ours by jax"], strict=True)
        ratios["torch over ours by jax"] = median(a / b for a, b in own)
    return {
        "case": case.name,
        "shape": case.shape._asdict(),
        "ms": {name: round(median(each) * 1e3, 4) for name, each in times.items()},
        "over ours": {name: round(ratio, 3) for name, ratio in ratios.items()},
        "asked": case.asked,
    }


def work(name: str, length: int) -> Callable[[], Any]:
    """A call with one head and this length."""
    library, _, backward = name.partition(" ")
    arrays = [xo.convert(x, library) for x in Shape(1, 1, 1, length, length, 64).arrays(1)]
    if library == "jax":
        import jax

        def loss(*qkv: Any) -> Any:
            return xo.sum(xo.attention(*qkv))

        function = jax.jit(jax.grad(loss, (0, 1, 2)) if backward else xo.attention)
        return lambda: jax.block_until_ready(function(*arrays))
    if library == "dask":
        arrays = [x.rechunk((1, 1, length // 4, 64)) for x in arrays]
    if backward:
        arrays = [x.requires_grad_() for x in arrays]

        def step() -> Any:
            xo.sum(xo.attention(*arrays)).backward()

        return step
    return lambda: xo.compute(xo.attention(*arrays))


def isolated_peak(name: str, length: int) -> float:
    """The peak memory of a second call, measured in a separate process."""
    command = [sys.executable, __file__, "--peak", name, "--length", str(length)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> int:
    """Measure, print and write the results."""
    parser = common_options(__doc__, rounds=15, pause=0.1, only=True)
    parser.add_argument("--scale", type=int, default=1, help="divide sequence lengths by this, for a trial")
    parser.add_argument("--length", type=int, default=LONG, help="sequence length of the memory measurement")
    parser.add_argument("--peak", choices=MEMORY, help="measure only the memory of this case")
    options = parser.parse_args()
    if options.peak:
        print(peak(work(options.peak, options.length)))
        return 0
    rows, memory = [], {}
    for case in CASES:
        if options.only in case.name and importlib.util.find_spec(case.name.split()[0]):
            row = measure(case, options.rounds, options.pause, options.scale)
            rows.append(row)
            ratios = ", ".join(
                f"{name} {ratio:.2f}" + (f" (required {case.asked[name]})" if name in case.asked else "")
                for name, ratio in row["over ours"].items()
            )
            print(f"{case.name:22} ours {row['ms']['ours']:9.4f} ms; over ours: {ratios}", flush=True)
    for name in MEMORY:
        if options.only in f"memory {name}" and importlib.util.find_spec(name.split()[0]):
            memory[name] = round(isolated_peak(name, options.length // options.scale), 1)
            print(f"memory {name:15} {memory[name]:9.1f} MB at {options.length // options.scale} (at most {MEMORY_MB})")
    if options.out:
        found = {
            "machine": machine(("numpy", "torch", "jax", "dask")),
            "rows": rows,
            "memory_mb": memory,
            "memory_length": options.length,
        }
        options.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
