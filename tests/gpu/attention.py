"""Probes of attention: every kernel that accepts a call must give the values of the definition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, TypeVar

import numpy as np
from report import GPU_LIBRARIES, Probe, Wrong, accelerated, grid, libraries, on, places, seconds

import xarrayops as xo
from xarrayops.testing._suite.operations.attention_oracle import attention_oracle

Case = TypeVar("Case")
TOLERANCES = {"float16": 2.0**-8, "bfloat16": 2.0**-5, "float32": 2.0**-17}
"""Tolerances relative to the largest value: four units in the last place of half types; TF32 would fail in float32."""
MASKS = ("bhqk", "11qk", "b11k", "1h1k", "111k", "b1qk", "bhq1")
"""The axes of the scores that a mask has; the others have one element."""
_CASES: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    # query heads, key heads, head size, queries, keys
    ((8, 8, 64, 1000, 1000), {}),
    ((8, 8, 64, 1000, 1000), {"causal": "top_left"}),
    ((8, 2, 128, 1000, 1000), {"causal": "top_left"}),
    ((8, 8, 128, 7, 1000), {"causal": "bottom_right"}),
    ((8, 8, 128, 1000, 7), {"causal": "bottom_right"}),
    ((8, 2, 64, 127, 127), {}),
    ((8, 2, 64, 128, 128), {}),
    ((8, 2, 64, 128, 384), {}),
    ((32, 8, 128, 1, 1000), {}),
    ((8, 8, 256, 128, 128), {}),
    ((8, 8, 64, 1000, 1000), {"causal": "top_left", "window": (64, 0)}),
    ((8, 8, 64, 384, 384), {"return_lse": True}),
)


def _small(library: str, extent: int) -> int:
    return extent if accelerated(library) else min(extent, 33)


def _few(library: str, cases: Sequence[Case]) -> Sequence[Case]:
    """All cases on an accelerator, otherwise the first ones."""
    return cases if accelerated(library) else cases[:2]


def _cast(library: str, host: Any, dtype: str) -> Any:
    return xo.astype(on(library, host), dtype)


def _operands(shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    hq, hkv, size, lq, lk = shape
    return grid((2, hq, lq, size)), grid((2, hkv, lk, size), 1), grid((2, hkv, lk, size), 2)


def _error(found: Any, want: Any) -> float:
    """The largest error, relative to the largest value."""
    host = np.asarray(xo.convert(xo.astype(found, xo.float64), "numpy"))
    if host.shape != want.shape or not np.isfinite(host).all():
        raise Wrong(f"shape {host.shape} instead of {want.shape}, or not finite")
    return float(np.abs(host - want).max() / np.abs(want).max())


def _checked(error: float, dtype: str, **found: Any) -> dict[str, Any]:
    if not error <= TOLERANCES[dtype]:
        raise Wrong(f"relative error {error:.1e}, tolerance {TOLERANCES[dtype]:.1e}")
    return {"error": f"{error:.1e}", **found}


_SOFTCAPS: tuple[tuple[tuple[int, ...], dict[str, Any]], ...] = (
    ((8, 8, 64, 1000, 1000), {"softcap": 5.0}),
    ((8, 2, 128, 1000, 1000), {"softcap": 5.0, "causal": "top_left", "window": (64, 0)}),
)
"""From this number of scores on, PyTorch compiles FlexAttention."""


def _kernels(library: str, dtype: str, name: str, cases: Sequence[Any]) -> Callable[[Probe], None]:
    """The probe of a library's kernels for a dtype. Each is a separate process, because compilation may be slow."""

    def kernels(probe: Probe) -> None:
        """Compare each candidate that can serve a call with the definition, and record the chosen one."""
        for full, options in _few(library, cases) if library in libraries() else ():
            shape = (*full[:3], *(_small(library, extent) for extent in full[3:]))
            operands = [_cast(library, host, dtype) for host in _operands(shape)]
            known = {name: value for name, value in options.items() if name != "return_lse"}
            want, _ = attention_oracle(*_operands(shape), **known)
            probe.note(f"{shape} {options}", "chosen", kernel=xo.explain("attention", *operands, **options).chosen)
            for name in _own(operands, **options):

                def computed(
                    name: str = name, operands: Any = operands, options: Any = options, want: Any = want
                ) -> dict[str, Any]:
                    out = xo.attention(*operands, implementation=name, **options)
                    return _checked(_error(out[0] if isinstance(out, tuple) else out, want), dtype)

                probe.examine(f"{shape} {options}", computed, kernel=name)

    kernels.__name__ = name
    return kernels


def _own(operands: Sequence[Any], **options: Any) -> list[str]:
    """The candidates that can serve a call. The generic one is included only if no other can."""
    able = [c.name for c in xo.explain("attention", *operands, **options).candidates if c.ok]
    return [name for name in able if not name.endswith(":generic")] or able


def masks(probe: Probe) -> None:
    """Every broadcast shape of a mask on each candidate, because libraries may not support all of them."""
    for library in libraries():
        extents = dict(zip("bhqk", (2, 8, _small(library, 100), _small(library, 333)), strict=True))
        shape = (8, 8, 64, extents["q"], extents["k"])
        for dtype in ("float16", "float32"):
            operands = [_cast(library, host, dtype) for host in _operands(shape)]
            for axes in _few(library, MASKS):
                flags = np.random.default_rng(3).random([1 if a == "1" else extents[a] for a in axes]) < 0.6
                want, _ = attention_oracle(*_operands(shape), mask=flags)
                mask = on(library, flags)
                for name in _own(operands, mask=mask):

                    def computed(
                        name: str = name, operands: Any = operands, mask: Any = mask, want: Any = want, d: str = dtype
                    ) -> dict[str, Any]:
                        return _checked(_error(xo.attention(*operands, mask=mask, implementation=name), want), d)

                    probe.examine(f"{library} {dtype} mask of {axes}", computed, kernel=name)


def strides(probe: Probe) -> None:
    """Rows of 64 halves within longer rows, from an element on: fused kernels read 16 bytes at a time.

    The milder cases come first: after a misaligned read a CUDA process can do nothing more.
    """
    for library in libraries():
        for row, first in ((72, 0), (68, 0), (72, 1), (65, 0), (65, 1)):
            hosts = [grid((2, 8, _small(library, 256), row), seed)[..., first : first + 64] for seed in range(3)]
            wide = [_cast(library, grid((2, 8, _small(library, 256), row), seed), "float16") for seed in range(3)]
            views = [x[..., first : first + 64] for x in wide]
            want, _ = attention_oracle(*hosts)
            for name in _own(views):

                def computed(name: str = name, views: Any = views, want: Any = want) -> dict[str, Any]:
                    return _checked(_error(xo.attention(*views, implementation=name), want), "float16")

                case = f"{library}, rows of {row}, from element {first} on"
                probe.note(case, "begun", kernel=name)
                probe.examine(case, computed, kernel=name)


def gradients(probe: Probe) -> None:
    """The derivatives of each PyTorch candidate, compared with the definition."""
    if "torch" not in libraries():
        return
    import torch

    length = _small("torch", 384)
    hosts = _operands((8, 2, 64, length, length))
    place = places("torch")[0].native

    def of(attend: Callable[..., Any], dtype: Any) -> list[Any]:
        inputs = [torch.asarray(h, dtype=dtype, device=place).requires_grad_() for h in hosts]
        return list(torch.autograd.grad(attend(*inputs).double().square().sum(), inputs))

    def definition(q: Any, k: Any, v: Any) -> Any:
        k, v = (x.repeat_interleave(4, 1) for x in (k, v))
        scores = (q @ k.mT) * 64**-0.5
        hidden = torch.ones(length, length, dtype=torch.bool, device=place).triu(1)
        return torch.softmax(scores.masked_fill(hidden, -torch.inf), -1) @ v

    want = [g.cpu().numpy() for g in of(definition, torch.float64)]
    for dtype in ("float16", "bfloat16", "float32"):
        sample = [_cast("torch", h, dtype).requires_grad_() for h in hosts]
        for name in _own(sample, causal="top_left"):

            def computed(name: str = name, dtype: str = dtype) -> dict[str, Any]:
                attend = lambda *given: xo.attention(*given, causal="top_left", implementation=name)
                found = of(attend, getattr(torch, dtype))
                # The derivative of the square uses the rounded forward result: four times the tolerance.
                return _checked(max(map(_error, found, want)) / 4, dtype)

            probe.examine(f"torch {dtype}", computed, kernel=name)


def compiled(probe: Probe) -> None:
    """``torch.compile`` with a full graph, where kernels are chosen during tracing."""
    if "torch" not in libraries():
        return
    import torch

    for dtype in ("float16", "bfloat16", "float32"):
        q = _cast("torch", grid((1, 8, 64, 64)), dtype)
        for options in ({}, {"causal": True}, {"return_lse": True}, {"window": (8, 0), "causal": True}):

            def same(q: Any = q, options: dict[str, Any] = options, dtype: str = dtype) -> dict[str, Any]:
                torch.compiler.reset()
                function = lambda q: xo.attention(q, q, q, **options)
                first = lambda out: out[0] if isinstance(out, tuple) else out
                found = first(torch.compile(function, fullgraph=True, backend="eager")(q))
                return _checked(_error(found, first(function(q)).double().cpu().numpy()), dtype)

            probe.examine(f"torch {dtype} {options}", same)


def transformed(probe: Probe) -> None:
    """JAX transformations, and arrays committed to the CPU on a machine with an accelerator."""
    if "jax" not in libraries():
        return
    import jax
    import jax.numpy as jnp

    q = _cast("jax", grid((2, 8, _small("jax", 128), 64)), "bfloat16")
    wide = jax.device_put(q.astype(jnp.float32), jax.devices("cpu")[0])
    attend = lambda q: xo.attention(q, q, q, causal=True)
    total = lambda q: attend(q).astype(jnp.float32).sum()
    ways: dict[str, Callable[[Any], Any]] = {
        "eager": attend,
        "jit": lambda q: jax.jit(attend)(q),
        "jit of an array on the CPU": lambda q: jax.jit(attend)(jax.device_put(q, jax.devices("cpu")[0])),
        "grad": lambda q: jax.grad(total)(q),
        "jvp": lambda q: jax.jvp(attend, (q,), (q,))[1],
        "vmap over the queries": lambda q: jax.vmap(lambda a: xo.attention(a, q, q, causal=True))(jnp.stack([q, q])),
        "vmap of grad": lambda q: jax.vmap(jax.grad(total))(jnp.stack([q, q])),
        "grad of grad": lambda q: jax.grad(lambda q: (jax.grad(total)(q).astype(jnp.float32) ** 2).sum())(q),
    }
    for way, run in ways.items():

        def same(run: Callable[[Any], Any] = run) -> dict[str, Any]:
            """The result agrees with float32 on the CPU. Each derivative adds one rounding to bfloat16."""
            out = run(q)
            error = _error(out, np.asarray(run(wide), np.float64)) / 4
            return _checked(error, "bfloat16", devices=[str(d) for d in out.devices()])

        probe.examine(way, same, kernel=xo.explain("attention", q, q, q, causal=True).chosen)


def engines(probe: Probe) -> None:
    """Arrays of one library with kernels of another, on the same device and without a copy."""
    for library in libraries():
        for engine in libraries():
            if engine == library:
                continue

            def served(library: str = library, engine: str = engine) -> dict[str, Any]:
                shape = (8, 8, 64, _small(library, 512), _small(library, 512))
                operands = [_cast(library, host, "float16") for host in _operands(shape)]
                with xo.engines(engine):
                    explained = xo.explain("attention", *operands)
                    out = xo.attention(*operands)
                if xo.device(out) != xo.device(operands[0]):
                    raise Wrong(f"the result is on {xo.device(out)}")
                chosen = next(c for c in explained.candidates if c.name == explained.chosen)
                error = _error(out, attention_oracle(*_operands(shape))[0])
                return _checked(error, "float16", kernel=chosen.name, copies=chosen.copies)

            probe.examine(f"{library} arrays, engine {engine}", served)


def decoding(probe: Probe) -> None:
    """One query against a growing cache of keys: no later step may be as slow as the first."""
    for library in libraries():
        length = 32768 if accelerated(library) else 64
        q, k, v = (_cast(library, grid((2, h, n, 128)), "bfloat16") for h, n in ((32, 1), (8, length), (8, length)))
        for options in ({}, {"kv_lengths": [length, length * 3 // 4]}):

            def timed(q: Any = q, k: Any = k, v: Any = v, options: dict[str, Any] = options) -> dict[str, Any]:
                us = round(seconds(lambda: xo.attention(q, k, v, **options)) * 1e6)
                return {"us": us, "kernel": xo.explain("attention", q, k, v, **options).chosen}

            probe.examine(f"{library} {list(options)}", timed)

        def growing(q: Any = q, k: Any = k, v: Any = v, length: int = length) -> dict[str, Any]:
            steps = [
                round(seconds(lambda n=n: xo.attention(q, k[:, :, :n, :], v[:, :, :n, :]), 1) * 1e6)
                for n in range(length - 3, length)
            ]
            return {"us": steps}

        probe.examine(f"{library} growing", growing)


KERNELS = [_kernels(lib, dtype, f"kernels-{lib}-{dtype}", _CASES) for lib, dtype in product(GPU_LIBRARIES, TOLERANCES)]
SOFTCAPS = _kernels("torch", "bfloat16", "softcaps", _SOFTCAPS)
PROBES = (strides, *KERNELS, SOFTCAPS, masks, gradients, compiled, transformed, engines, decoding)
