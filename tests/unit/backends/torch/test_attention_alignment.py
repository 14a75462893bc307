"""Which tensors fused attention kernels can read: the address of the values and their strides decide."""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402
from xarrayops_backends.torch._attention import alignment  # noqa: E402

HALF = torch.float16


def odd(shape: tuple[int, ...], *, offset: int = 0, row: int | None = None) -> Any:
    """A tensor that starts ``offset`` items after a multiple of 16 bytes, with a row stride of ``row`` items."""
    *outer, size = shape
    row = size if row is None else row
    items = math.prod(outer) * row + 64
    whole = torch.zeros(items, dtype=HALF)
    start = -whole.data_ptr() % 16 // 2 + offset
    strides = [row * math.prod(outer[axis + 1 :]) for axis in range(len(outer))]
    return whole[start:].as_strided(shape, (*strides, 1))


ALIGNMENTS = {
    "aligned": ({}, True),
    "8 items on": ({"offset": 8}, True),
    "1 item on": ({"offset": 1}, False),
    "4 items on": ({"offset": 4}, False),
    "rows of 72": ({"row": 72}, True),
    "rows of 65": ({"row": 65}, False),
    "rows of 66": ({"row": 66}, False),
}


@pytest.mark.parametrize("name", ALIGNMENTS)
def test_alignment_of_addresses_and_rows(name: str) -> None:
    """The address of the values decides, not their storage offset: a storage may be a view of other memory."""
    options, expected = ALIGNMENTS[name]
    x = odd((1, 2, 5, 64), **options)
    assert alignment.is_aligned(x) is expected
    imported = torch.from_dlpack(x.numpy())
    assert (imported.storage_offset(), alignment.is_aligned(imported)) == (0, expected)
    with FlopCounterMode(display=False):
        assert alignment.is_aligned(imported) is expected, "the address is also known in a dispatch mode"
    made = alignment.aligned(imported)
    assert (made is imported) is expected
    assert made.data_ptr() % 16 == 0
    assert alignment.is_aligned(made)


def test_alignment_of_other_axes() -> None:
    """The last axis must be contiguous; axes of length 1 may have any stride."""
    x = torch.zeros(2, 64, 5, 64, dtype=HALF)
    assert not alignment.is_aligned(x.mT[..., :8])
    assert alignment.is_aligned(x.transpose(1, 2))
    assert alignment.is_aligned(odd((1, 1, 1, 64), row=65)), "a single row has no row stride"
    with FakeTensorMode() as mode:
        fake = mode.from_tensor(torch.zeros(2, 8, 5, 72, dtype=HALF))
        assert alignment.is_aligned(fake[..., 8:])
        assert not alignment.is_aligned(fake[..., 1:65])
