"""PyTorch's attention kernels on CUDA: which kernel is chosen. Without a GPU the tensors are fake."""

from __future__ import annotations

import re
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.backends import find
from xarrayops.plugin import Attention, Call, candidates
from xarrayops.plugin.candidates import constant_while_tracing
from xarrayops.testing._suite.operations.attention_cases import FUSED, FUSED_VIEWS

torch = pytest.importorskip("torch", exc_type=ImportError)
from torch._subclasses import fake_tensor  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from xarrayops_backends.torch._attention import alignment, blocks, cuda, flash, package  # noqa: E402

pytestmark = pytest.mark.device

KERNELS = {name: (function, refusal) for name, function, refusal in find.named("torch").kernels("attention")}
HALF = torch.float16


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The properties that a GPU reports, while tensors are fake."""
    says: dict[str, Any] = {"major": 9, "cudnn": 92000}
    monkeypatch.setattr(fake_tensor, "init_gpu_context", lambda device: None)  # some versions make a real tensor there
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (says["major"], 0))
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: says["cudnn"])
    return says


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget recorded failures between tests. The flash-attn package has tests of its own."""
    monkeypatch.setattr(candidates, "_failures", {})
    monkeypatch.setattr(package, "package", lambda major: "it is left out")


def call(lq: int = 64, lk: int = 64, *, heads: tuple[int, int] = (8, 8), size: int = 64, **options: Any) -> Call:
    """A call of fake tensors in half precision on a GPU, unless the options say otherwise."""
    dtype, device = options.pop("dtype", HALF), options.pop("device", "cuda")
    value_size = options.pop("value_size", size)
    shapes = (2, heads[0], lq, size), (2, heads[1], lk, size), (2, heads[1], lk, value_size)
    q, k, v = (torch.empty(shape, dtype=dtype, device=device) for shape in shapes)
    return Call((Attention(q, k, v, 0.125)._replace(**options),), {})


def chosen(case: Call) -> str:
    return next(name for name, (_, refuses) in KERNELS.items() if refuses(case) is None)


def refusal(kernel: str, case: Call) -> str:
    return KERNELS[f"sdpa-{kernel}"][1](case) or ""


def of_gpu(*shape: int, dtype: Any = torch.bool) -> Any:
    return torch.empty(shape, dtype=dtype, device="cuda")


def test_choice_on_cuda(gpu: dict[str, Any]) -> None:
    """cuDNN if it is correct and the fastest, then flash, then kernels that support masks and single precision."""
    with FakeTensorMode():
        lengths = of_gpu(2, dtype=torch.int32)
        from_below = {"offset": of_gpu(2, dtype=torch.int32), "right": 0, "bottom_right": True, "kv_lengths": lengths}
        mask = of_gpu(1, 1, 64, 64)
        for major, best in ((9, "sdpa-cudnn"), (10, "sdpa-cudnn"), (8, "sdpa-flash"), (12, "sdpa-flash")):
            gpu["major"] = major
            assert chosen(call()) == chosen(call(right=0)) == chosen(call(right=0, left=5)) == best
            assert chosen(call(mask=mask)) == ("sdpa-efficient" if best == "sdpa-flash" else best)
            assert chosen(call(return_lse=True, left=7, right=0)) == "sdpa-flash"
            assert chosen(call(kv_lengths=lengths)) == chosen(call(**from_below)) == "sdpa-flash"
            assert chosen(call(**from_below, left=9)) == chosen(call(1, **from_below)) == "sdpa-flash"
            assert chosen(call(dtype=torch.float32)) == chosen(call(dtype=torch.float32, right=0)) == "sdpa-efficient"
            assert chosen(call(mask=mask, return_lse=True)) == chosen(call(size=12, value_size=12)) == "blocked"
            assert chosen(call(dtype=torch.float64)) == chosen(call(softcap=1.0)) == "blocked"
        gpu["major"] = 9
        assert chosen(call(1, right=0, offset=63)) == chosen(call(15)) == "sdpa-flash", "decoding"
        assert chosen(call(16)) == "sdpa-cudnn"
        gpu["cudnn"] = 91500
        assert chosen(call()) == "sdpa-flash"
        gpu.update(cudnn=92000, major=7)
        assert chosen(call()) == chosen(call(mask=mask)) == "blocked"


def test_no_large_masks(gpu: dict[str, Any]) -> None:
    """A band that needs a mask is computed by blocks if the mask would be large."""
    with FakeTensorMode():
        wide: dict[str, Any] = {"left": 2, "right": 0, "dtype": torch.float32}
        assert chosen(call(**wide)) == "sdpa-efficient"
        assert chosen(call(9000, 9000, **wide)) == "blocked"
        assert chosen(call(9000, 9000, left=2, right=0)) == "sdpa-flash"


def test_one_value_for_all_keys(gpu: dict[str, Any]) -> None:
    """A mask with one value per query is expanded to all keys, and its size is counted after that."""
    with FakeTensorMode():
        for name, dtype in (("mask", torch.bool), ("bias", HALF)):
            values = of_gpu(2, 8, 1024, 1, dtype=dtype)
            assert chosen(call(1024, 1024, **{name: values})) == "sdpa-cudnn"
            assert chosen(call(1024, 1025, **{name: values})) == "blocked"


@pytest.mark.parametrize("kernel", ["cudnn", "efficient"])
def test_lengths_on_the_cpu(kernel: str, gpu: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths on the CPU are copied to the device of the queries."""
    seen = []

    def look(q: Any, k: Any, v: Any, added: Any, **options: Any) -> Any:
        seen.append(added.device.type)
        return torch.empty_like(q)

    monkeypatch.setattr(cuda, "sdpa_kernel", lambda backend: nullcontext())
    monkeypatch.setattr(cuda, "scaled_dot_product_attention", look)
    with FakeTensorMode():
        lengths, offset = torch.empty(2, dtype=torch.int32), torch.empty(2, dtype=torch.int64)
        (a,) = call(64, 80, q_lengths=lengths, kv_lengths=lengths, offset=offset, right=0).args
        out, _ = getattr(cuda, kernel)(a)
        assert out.device.type == "cuda"
        mixed = a._replace(kv_lengths=of_gpu(2, dtype=torch.int32))
        assert blocks.attention(mixed)[0].device.type == "cuda"
    assert seen == ["cuda"]


def test_calls_that_kernels_on_cuda_would_compute_wrongly(gpu: dict[str, Any]) -> None:
    """The gradient of the logsumexp, scales that are not positive, and a bias that is wider than the queries."""
    with FakeTensorMode():
        gpu["major"] = 8
        followed = call(return_lse=True)
        followed.args[0].q.requires_grad_()
        assert "no gradient" in refusal("flash", followed)
        ragged = call(kv_lengths=of_gpu(2, dtype=torch.int32))
        assert refusal("flash", ragged) == ""
        ragged.args[0].v.requires_grad_()
        assert "no gradient with lengths" in refusal("flash", ragged)
        for scale in (0.0, -0.3):
            assert chosen(call(scale=scale)) == "blocked"
        for dtype, kernel in (("float16", "efficient"), ("float32", ""), ("float64", ""), ("bfloat16", "")):
            bias = of_gpu(1, 1, 64, 64, dtype=getattr(torch, dtype))
            assert chosen(call(bias=bias)) == (f"sdpa-{kernel}" if kernel else "blocked")


def test_switches_of_the_user_are_kept(gpu: dict[str, Any]) -> None:
    """torch.backends.cuda.enable_*_sdp and sdpa_kernel limit the kernels that may serve."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with FakeTensorMode():
        for backend, kernel in ((SDPBackend.FLASH_ATTENTION, "flash"), (SDPBackend.EFFICIENT_ATTENTION, "efficient")):
            with sdpa_kernel(backend):
                assert chosen(call()) == f"sdpa-{kernel}"
        with sdpa_kernel(SDPBackend.MATH):
            assert chosen(call()) == "blocked"
            assert "enable_cudnn_sdp" in refusal("cudnn", call())
            assert "enable_flash_sdp" in refusal("flash", call())
            assert "enable_mem_efficient_sdp" in refusal("efficient", call())
        assert chosen(call()) == "sdpa-cudnn"


def test_known_faults_of_cudnn(gpu: dict[str, Any]) -> None:
    """The kernel refuses calls for which it has a known bug on this GPU, and gives the reason."""
    with FakeTensorMode():
        few = call(heads=(8, 2))
        assert chosen(few) == "sdpa-cudnn", "no bug is known on H100 and H200"
        gpu["major"] = 10
        assert "193893" in refusal("cudnn", few)
        gpu["major"] = 9
        odd = call(192, 192, mask=of_gpu(1, 1, 192, 192))
        assert refusal("cudnn", odd) == ""
        odd.args[0].q.requires_grad_()
        assert ("196678" in refusal("cudnn", odd)) == (torch.__version__ >= "2.11")


def test_reasons_of_a_machine_without_a_gpu() -> None:
    """Without a GPU, the CUDA kernels refuse fake CUDA tensors, because the compute capability is unknown."""
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with FakeTensorMode():
        assert "compute capability" in refusal("flash", call())
        assert chosen(call()) == "blocked"


@pytest.mark.parametrize("kernel", ["cudnn", "flash", "efficient"])
def test_misaligned_views_are_copied_once(kernel: str, gpu: dict[str, Any]) -> None:
    """A slice of each head, with unaligned rows, is copied, and explain reports the copy."""
    with FakeTensorMode():
        case = call(size=66)
        a = case.args[0]
        view = a._replace(**{name: getattr(a, name).narrow(3, 1, 64) for name in "qkv"})
        assert refusal(kernel, Call((view,), {})) == ""
        lines = KERNELS[f"sdpa-{kernel}"][0].copies(Call((view._replace(v=of_gpu(2, 8, 64, 64, dtype=HALF)),), {}))
        assert [line.split(":")[0] for line in lines] == ["copies q, 131072 bytes", "copies k, 131072 bytes"]
        assert all(alignment.is_aligned(x) for x in alignment.all_aligned(view)[:3])
        explained = xo.explain("attention", *view[:3])
        copied = next(c for c in explained.candidates if c.name == f"torch:sdpa-{kernel}").copies
        assert [line.split(",")[0] for line in copied] == ["copies q", "copies k", "copies v"]


class Model(torch.nn.Module):  # type: ignore[misc]
    """Attention with options, to be traced."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__()
        self.options = options

    def forward(self, q: Any, k: Any, v: Any) -> Any:
        return xo.attention(q, k, v, **self.options)


TRACED: dict[str, tuple[int, dict[str, Any], str]] = {
    "cuDNN": (64, {"causal": True}, "_scaled_dot_product_cudnn_attention|scaled_dot_product_attention"),
    "flash": (1, {"causal": "bottom_right"}, "_flash_attention_forward"),
    "window": (2, {"window": (3, 0, "bottom_right")}, "_flash_attention_forward"),
    "lengths": (1, {"causal": "bottom_right", "kv_lengths": [3, 4]}, "_flash_attention_forward"),
}


@pytest.mark.parametrize(("name", "grows"), [*((name, False) for name in TRACED), ("flash", True), ("lengths", True)])
def test_traces_as_one_graph(name: str, grows: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls that Dynamo refuses are avoided, so that the graph contains the kernel.

    For a growing cache, one graph serves any number of keys.
    """
    queries, options, operations = TRACED[name]
    monkeypatch.setattr(cuda.conditions, "generation", constant_while_tracing(lambda device: 9))
    monkeypatch.setattr(torch.backends.cudnn, "version", lambda: 92000)
    with FakeTensorMode():
        q = of_gpu(2, 8, queries, 64, dtype=HALF)
        k, v = (of_gpu(2, 8, 64, 64, dtype=HALF) for _ in "kv")
        keys = {2: torch.export.Dim("keys", min=20, max=4096)}
        dynamic = (None, keys, keys) if grows else None
        graph = torch.export.export(Model(options), (q, k, v), strict=True, dynamic_shapes=dynamic).graph
    assert re.search(operations, str(graph)), graph
    assert "bmm" not in str(graph), "blocks"


def test_traces_masks_of_any_number_of_queries() -> None:
    """The number of a mask's values is symbolic in the graph."""

    def count(q: Any, k: Any, mask: Any) -> Any:
        return q + cuda._mask_values(Attention(q, k, k, 0.1, mask, left=3, right=0))

    torch._dynamo.reset()
    compiled = torch.compile(count, backend="eager", dynamic=True, fullgraph=True)
    for queries, keys in ((5, 7), (6, 9)):
        q, k, mask = torch.zeros(2, 4, queries, 8), torch.zeros(2, 4, keys, 8), torch.ones(2, 1, queries, 1) > 0
        assert (compiled(q, k, mask) == 2 * queries * keys).all()


@pytest.mark.parametrize("options", [{"right": 0, "offset": 2}, {"left": 3, "right": 1}, {"kv": 2}], ids=str)
def test_flash_on_cuda_of_fake_tensors(options: dict[str, Any]) -> None:
    """The shapes, dtypes and device of the results of this PyTorch version's operations."""
    with FakeTensorMode():
        lengths = {"kv_lengths": of_gpu(2, dtype=torch.int32)} if options.pop("kv", None) else {}
        (a,) = call(5, 7, heads=(4, 2), **options, **lengths).args
        out, lse = flash.flash(a)
    assert (tuple(out.shape), out.dtype, out.device.type) == ((2, 4, 5, 64), HALF, "cuda")
    assert (tuple(lse.shape), lse.dtype) == ((2, 4, 5), torch.float32)


@pytest.mark.parametrize("options", [{}, {"right": 0}, {"left": 5, "right": 0}, {"right": 3}], ids=str)
def test_flash_has_a_gradient(options: dict[str, Any]) -> None:
    """The internal operation is differentiable too, also with windows."""
    (a,) = call(heads=(8, 2), device="meta", **options).args
    for x in (a.q, a.k, a.v):
        x.requires_grad_()
    out, _ = flash.flash(a)
    gradients = torch.autograd.grad(out, (a.q, a.k, a.v), torch.empty_like(out))
    assert [x.shape for x in gradients] == [x.shape for x in (a.q, a.k, a.v)]


CUDNN, FLASH, EFFICIENT = "torch:sdpa-cudnn", "torch:sdpa-flash", "torch:sdpa-efficient"
SERVED: dict[str, tuple[str, ...]] = {
    "length 1": (FLASH, FLASH),
    "length 128, head size 128": (FLASH, CUDNN),
    "length 384": (FLASH, CUDNN),
    "grouped": (FLASH, CUDNN),
    "more keys": (FLASH, CUDNN),
    "more keys, top left": (FLASH, CUDNN),
    "fewer keys": (FLASH, CUDNN),
    "window": (FLASH, CUDNN),
    "window with two bounds": (FLASH, CUDNN),
    "decoding": (FLASH, FLASH),
    "decoding, lengths": (FLASH, FLASH),
    "several steps, lengths": (FLASH, FLASH),
    "no keys": (FLASH, FLASH),
    "mask": (EFFICIENT, CUDNN),
    "mask for each head": (EFFICIENT, CUDNN),
    "misaligned": (FLASH, CUDNN),
    "misaligned decoding": (FLASH, FLASH),
    "strided": (FLASH, CUDNN),
    "BSHD": (FLASH, CUDNN),
}
"""The kernel for each case of the contract suite, on compute capability 8.x and 9.x."""


VIEWED: dict[str, Any] = {
    **FUSED_VIEWS,
    "a slice of each head": lambda x: x.narrow(3, 1, 64),
    "every second position": lambda x: x.as_strided(
        (*x.shape[:2], x.shape[2] // 2, 64), (*x.stride()[:2], 2 * x.stride(2), 1)
    ),
}
"""The views of the contract suite, by functions that work on fake tensors without a GPU."""


def served(name: str) -> str | None:
    """The kernel that explain reports for a case."""
    case = FUSED[name]
    arrays = [VIEWED[case.view](of_gpu(*x.shape, dtype=HALF)) for x in case.arrays()]
    options = {n: of_gpu(*x.shape) if isinstance(x, np.ndarray) else x for n, x in case.options.items()}
    if "kv_lengths" in options:
        options["kv_lengths"] = torch.ones_like(of_gpu(1, dtype=torch.int32))
    return xo.explain("attention", *arrays, **options).chosen


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("major", [8, 9])
def test_chosen_kernels(name: str, major: int, gpu: dict[str, Any]) -> None:
    """The choice for each GPU generation; no GPU is needed."""
    gpu["major"] = major
    with FakeTensorMode():
        assert served(name) == SERVED[name][major - 8]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch sees no GPU")
def test_chosen_kernels_on_this_gpu() -> None:
    """The same choice on a real device; the contract suite checks the values."""
    major = torch.cuda.get_device_capability()[0]
    old = (torch.backends.cudnn.version() or 0) <= 91500
    column = 1 if major == 9 and not old else 0
    assert {name: served(name) for name in SERVED} == {name: kernels[column] for name, kernels in SERVED.items()}


def test_where_blocks_keep_half_precision() -> None:
    """On CUDA, if no gradient is recorded; the blocks are larger than on the CPU."""
    with FakeTensorMode():
        (a,) = call(4096, 4096).args
        assert blocks._keeps_halves(a)
        assert not blocks._keeps_halves(a._replace(q=a.q.float()))
        assert len(blocks._spans(a)) == 4
        a.q.requires_grad_()
        assert not blocks._keeps_halves(a)
        with torch.no_grad():
            assert blocks._keeps_halves(a)
        (b,) = call(4096, 4096, device="cpu").args
        assert not blocks._keeps_halves(b)
        assert len(blocks._spans(b)) == 256
        out, lse = blocks.attention(call(return_lse=True).args[0])
    assert (out.dtype, lse.dtype) == (HALF, torch.float32)


@pytest.mark.parametrize(("name", "serves"), [("gfx942:sramecc+:xnack-", True), ("gfx90a", True), ("gfx906", False)])
def test_kernels_on_amd(gpu: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str, serves: bool) -> None:
    """The architecture decides, not the number that PyTorch makes of it: gfx906 would be compute capability 9.0."""
    monkeypatch.setattr(torch.version, "hip", "7.0")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: SimpleNamespace(gcnArchName=name))
    with FakeTensorMode():
        case = call()
        for kernel in ("sdpa-flash", "sdpa-efficient"):
            reason = KERNELS[kernel][1](case)
            assert (reason is None) == serves
            assert reason is None or reason == "it serves gfx90a, gfx942, gfx950, not gfx906"
        assert KERNELS["sdpa-cudnn"][1](case) is not None
