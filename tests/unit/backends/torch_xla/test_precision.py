"""Products of float32 on an XLA device that would multiply in bfloat16: simulated, on XLA's CPU device."""

from __future__ import annotations

import logging

import pytest

import xarrayops as xo
from xarrayops.errors import Unsupported

torch = pytest.importorskip("torch", exc_type=ImportError)
torch_xla = pytest.importorskip("torch_xla", exc_type=ImportError)

CALLS = {
    "matmul": lambda x: xo.matmul(x, x),
    "tensordot": lambda x: xo.tensordot(x, x, axes=1),
    "cov": lambda x: xo.cov(x),
    "convolution": lambda x: xo.conv2d(x[None, None], x[None, None, :2, :2]),
    "attention": lambda x: xo.attention(*[x[None, None]] * 3),
}
HIGHEST = "operand_precision={highest,highest}"


def made(dtype="float32"):
    return xo.asarray([[1.0, 2.0, 3.0]] * 3, dtype=dtype, backend="torch_xla")


@pytest.fixture
def tpu(monkeypatch):
    """The CPU device says that it is a TPU."""
    monkeypatch.setattr("torch_xla.core.xla_model.xla_device_hw", lambda device: "TPU")


@pytest.fixture
def highest():
    logging.getLogger("torch_xla.backends").setLevel(logging.ERROR)
    torch_xla.backends.set_mat_mul_precision("highest")
    yield
    torch_xla.backends.set_mat_mul_precision("default")


def hlo(x):
    return torch_xla._XLAC._get_xla_tensors_hlo([x])


@pytest.mark.parametrize("name", CALLS)
def test_float32_is_refused(tpu, name):
    with pytest.raises(Unsupported, match=r'torch_xla.backends.set_mat_mul_precision\("highest"\)'):
        CALLS[name](made())


@pytest.mark.parametrize("name", CALLS)
def test_the_setting_of_the_program_serves(tpu, highest, name):
    assert HIGHEST in hlo(CALLS[name](made()))


def test_einsum_ignores_the_setting(tpu, highest):
    x = made()
    assert HIGHEST not in hlo(torch.einsum("ij,jk->ik", x, x)), "PyTorch/XLA repaired it: serve einsum"
    with pytest.raises(Unsupported, match=r"xo\.matmul or xo\.tensordot"):
        xo.einsum("ij,jk->ik", x, x)


def test_slogdet_ignores_the_setting(tpu, highest):
    found = hlo(torch.linalg.slogdet(made() + torch.eye(3, device="xla"))[1])
    assert " dot(" in found
    assert HIGHEST not in found, "PyTorch/XLA repaired it: serve linalg.slogdet"
    with pytest.raises(Unsupported, match="the CPU"):
        xo.linalg.slogdet(made())


@pytest.mark.parametrize("dtype", ["bfloat16", "int32"])
def test_other_dtypes_are_served(tpu, dtype):
    assert xo.matmul(made(dtype), made(dtype)).shape == (3, 3)


@pytest.mark.parametrize("name", CALLS)
def test_the_cpu_serves(name):
    assert CALLS[name](made()) is not None


def test_a_policy_is_kept_or_refused(tpu):
    with xo.precision(products="ieee"), pytest.raises(Unsupported, match="set_mat_mul_precision"):
        xo.matmul(made(), made())
