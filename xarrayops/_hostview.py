"""The memory that a `Memory` describes, as NumPy sees it: addresses and strides, whatever the dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xarrayops.plugin import Memory

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Outline:
    """What NumPy's array interface asks for; it keeps the owner of the memory alive."""

    def __init__(self, memory: Memory, owner: Any, readonly: bool) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": memory.shape,
            "strides": memory.strides,
            "typestr": f"|V{memory.itemsize}",
            "data": (memory.pointer, readonly),
        }


def view_bits(memory: Memory, owner: Any, *, readonly: bool) -> NDArray[Any]:
    """A NumPy array of raw items over the memory; view it as a dtype of that size to read them.

    DLPack would refuse bfloat16, float8 and what older producers flag read-only. Making the view touches no element:
    even device memory may be outlined, to compare addresses.
    """
    import numpy as np

    return np.asarray(_Outline(memory, owner, readonly))
