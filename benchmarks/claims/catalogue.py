"""The claims as data: what is claimed, the source, and the two workloads that test it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CPU, CUDA, TPU = "cpu", "cuda", "tpu"
Quantity = Literal["time", "memory", "memory growth"]
"""time: of a call. memory: inputs and the peak of a call. memory growth: of the peak, at twice the length."""


@dataclass(frozen=True)
class Source:
    """The source of a claim.

    ``says`` is the content of the page at the URL. It contains the published figure only if ``has_figure``.
    """

    origin: str
    url: str
    says: str
    has_figure: bool


@dataclass(frozen=True)
class Claim:
    """A published ratio, and the workloads that test it.

    Attributes
    ----------
    claimed : float
        The time or memory of the baseline divided by that of the contestant; 1 if they are claimed to be equal.
    baseline, contestant : str
        The names of workloads in `claim_workloads`.
    backends, devices : tuple of str
        The libraries and kinds of devices on which it is measured, as far as they are available.
    against : str
        The library that runs the baseline on the CPU. If empty, the contestant's library on the same device.
    quantity : str
        The quantity that is compared.
    """

    id: str
    words: str
    source: Source
    claimed: float
    baseline: str
    contestant: str
    backends: tuple[str, ...]
    devices: tuple[str, ...]
    against: str = ""
    quantity: Quantity = "time"

    @property
    def needs(self) -> str:
        """The required libraries and devices as text."""
        against = f", compared with {self.against} on the CPU" if self.against else ""
        return f"{' or '.join(self.backends)} on {' or '.join(self.devices)}{against}"


_CONTIGUOUS = Source(
    origin="a common claim about NumPy and PyTorch; the first publication of the figure is unknown",
    url="https://github.com/numpy/numpy/pull/23752",
    says="NumPy made matmul faster for operands that are not contiguous, and measured it for several BLAS libraries",
    has_figure=False,
)
_IN_PLACE = Source(
    origin="a common claim about PyTorch's in-place functions",
    url="https://discuss.pytorch.org/t/whats-the-difference-between-nn-relu-and-nn-relu-inplace-true/948",
    says="inplace=True allocates no output and can sometimes slightly decrease the memory usage",
    has_figure=False,
)
_CUPY = Source(
    origin="a common claim about CuPy; the first publication of the figure is unknown",
    url="https://cupy.dev",
    says="CuPy speeds up some operations more than 100 times; a chart shows the operations and devices",
    has_figure=False,
)
_FLASH_TIME = Source(
    origin="a common claim about FlashAttention",
    url="https://arxiv.org/abs/2205.14135",
    says="3 times for the whole training of GPT-2 at length 1K, on GPUs",
    has_figure=False,
)
_FLASH_MEMORY = Source(
    origin="FlashAttention's README",
    url="https://github.com/Dao-AILab/flash-attention",
    says="the memory of standard attention is quadratic in the sequence length, that of FlashAttention linear",
    has_figure=True,
)
_CSR = Source(
    origin="PyTorch issue 151351, which requests it because the conversion to CSR took far more time and memory",
    url="https://github.com/pytorch/pytorch/issues/151351",
    says="a huge difference in time and memory between converting to COO and converting to CSR",
    has_figure=False,
)
_TORCHSCRIPT = Source(
    origin="a common claim about TorchScript, which PyTorch deprecates; the first publication is unknown",
    url="https://github.com/pytorch/torchdynamo/pull/380",
    says="up to about 1.3 times for a fused matmul and relu, by Triton on a GPU and not by TorchScript",
    has_figure=False,
)
_AMP = Source(
    origin="PyTorch's recipe for automatic mixed precision",
    url="https://pytorch.org/tutorials/recipes/recipes/amp_recipe.html",
    says="2 to 3 times on GPUs with tensor cores, for the training of a stack of linear layers",
    has_figure=True,
)

_TENSORRT = Source(
    origin="a common claim about TensorRT; the first publication is unknown",
    url="https://github.com/pytorch/TensorRT",
    says="up to 5 times the speed of eager execution",
    has_figure=False,
)
_TPU = Source(
    origin="the documentation of jmp, mixed precision for JAX",
    url="https://github.com/google-deepmind/jmp",
    says="bfloat16 can save a third of the time of a training step on TPUs",
    has_figure=True,
)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="contiguous-matmul-transposed",
        words="a matrix product is up to 50 % faster when both operands are contiguous than when one is transposed",
        source=_CONTIGUOUS,
        claimed=1.5,
        baseline="matmul transposed",
        contestant="matmul contiguous",
        backends=("numpy", "torch"),
        devices=(CPU, CUDA),
    ),
    Claim(
        id="contiguous-matmul-strided",
        words="a matrix product is up to 50 % faster when both operands are contiguous than when one skips columns",
        source=_CONTIGUOUS,
        claimed=1.5,
        baseline="matmul strided",
        contestant="matmul contiguous",
        backends=("numpy", "torch"),
        devices=(CPU, CUDA),
    ),
    Claim(
        id="contiguous-transpose",
        words="copying the transpose of a matrix is up to 150 % faster if it is contiguous than if it skips columns",
        source=_CONTIGUOUS,
        claimed=2.5,
        baseline="transpose strided",
        contestant="transpose contiguous",
        backends=("numpy", "torch"),
        devices=(CPU, CUDA),
    ),
    Claim(
        id="in-place-memory",
        words="relu in place needs half the memory: its input, instead of input and output",
        source=_IN_PLACE,
        claimed=2.0,
        baseline="relu",
        contestant="relu in place",
        backends=("numpy", "torch"),
        devices=(CPU,),
        quantity="memory",
    ),
    Claim(
        id="cupy-matmul",
        words="CuPy is 82 times as fast as NumPy for a product of 10000 by 10000 matrices (here in float32)",
        source=_CUPY,
        claimed=82.0,
        baseline="matmul 10000",
        contestant="matmul 10000",
        backends=("cupy",),
        devices=(CUDA,),
        against="numpy",
    ),
    Claim(
        id="flash-attention-time",
        words="FlashAttention is 5 times as fast as plain attention (xo.attention in float32, forward pass only)",
        source=_FLASH_TIME,
        claimed=5.0,
        baseline="attention plain",
        contestant="attention flash",
        backends=("numpy", "torch"),
        devices=(CPU, CUDA),
    ),
    Claim(
        id="flash-attention-memory",
        words="at twice the length, plain attention needs 4 times the memory, FlashAttention twice (xo.attention)",
        source=_FLASH_MEMORY,
        claimed=2.0,
        baseline="attention plain",
        contestant="attention flash",
        backends=("numpy", "torch"),
        devices=(CPU,),
        quantity="memory growth",
    ),
    Claim(
        id="csr-as-fast-as-coo",
        words="a dense matrix becomes CSR as fast as COO (here by xo.sparse.from_dense)",
        source=_CSR,
        claimed=1.0,
        baseline="from dense to coo",
        contestant="from dense to csr",
        backends=("numpy", "torch"),
        devices=(CPU, CUDA),
    ),
    Claim(
        id="torchscript-matmul-relu",
        words="TorchScript makes relu(a @ b) 33 % faster",
        source=_TORCHSCRIPT,
        claimed=1.33,
        baseline="matmul relu eager",
        contestant="matmul relu script",
        backends=("torch",),
        devices=(CPU, CUDA),
    ),
    Claim(
        id="amp-layers",
        words="automatic mixed precision (float16) is 2.5 times as fast as float32 (three layers, forward pass only)",
        source=_AMP,
        claimed=2.5,
        baseline="layers float32",
        contestant="layers autocast",
        backends=("torch",),
        devices=(CUDA,),
    ),
    Claim(
        id="tensorrt-layers",
        words="TensorRT is 4.2 times as fast as eager PyTorch (three layers in float16, forward pass only)",
        source=_TENSORRT,
        claimed=4.2,
        baseline="layers float32",
        contestant="layers tensorrt",
        backends=("torch",),
        devices=(CUDA,),
    ),
    Claim(
        id="tpu-bfloat16",
        words="on a TPU bfloat16 takes two thirds of the time of float32 (three layers, forward pass only)",
        source=_TPU,
        claimed=1.5,
        baseline="layers float32 of any library",
        contestant="layers bfloat16",
        backends=("jax",),
        devices=(TPU,),
    ),
)
