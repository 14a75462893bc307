"""Generic functions, written only with functions of the standard, and parts of them that backends may use.

- `HOOKS`: the generic function of every hook, by name; `signature` gives the signature of a backend's function.
- For attention: `cut` gives the blocks of an axis, each a `Span`; `part` gives the block of a mask or bias; `sees`,
  `is_full` and `limits` give the keys of a block that a block of queries sees, from the band and the lengths;
  `without_padding` sets values beyond the lengths to zero.
- For random numbers: `random_draw`, `random_keys`, `random_permutation` and `beta_numbers`. A backend whose
  library is slow at these computes the bits of a draw in its own way, and passes them to
  `xarrayops.plugin.distributions`, with `arithmetic` or its own operations. The tests compare every
  bit with the generic function's.
- `is_sound`: whether the indices of sparse parts are valid.

The generic functions that are not in the standard, such as ``pad`` and ``quantile``, have argument checks and steps
that backends may use. Their modules are attributes of this one: ``common``, ``counting``, ``elementwise``, ``linalg``,
``nans``, ``order``, ``padding``, ``quantiles``, ``sets``, ``shaping``, ``signal``, ``statistics`` and ``windows``. So
is ``complex_order``, which has functions of the standard for complex numbers that a library does not order as NumPy.

Functions of split arrays have steps for one block, and steps that combine the results of blocks: ``blocks_counting``
combines elements by index, and ``blocks_selection`` finds elements by their place in the order of all.

All modules except that of `HOOKS` are imported at their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xarrayops._generic.hooks import HOOKS as HOOKS, signature as signature
from xarrayops.plugin.lazy import lazy_attributes

if TYPE_CHECKING:
    from xarrayops._generic import complex_order as complex_order
    from xarrayops._generic.attention import (
        Span as Span,
        cut as cut,
        is_full as is_full,
        limits as limits,
        part as part,
        sees as sees,
        without_padding as without_padding,
    )
    from xarrayops._generic.extra import (
        common as common,
        counting as counting,
        elementwise as elementwise,
        linalg as linalg,
        nans as nans,
        order as order,
        padding as padding,
        quantiles as quantiles,
        sets as sets,
        shaping as shaping,
        signal as signal,
        statistics as statistics,
        windows as windows,
    )
    from xarrayops._generic.random import (
        arithmetic as arithmetic,
        beta_numbers as beta_numbers,
        random_draw as random_draw,
        random_keys as random_keys,
        random_permutation as random_permutation,
    )
    from xarrayops._generic.sparse import is_sound as is_sound

_EXTRA = (
    *("common", "counting", "linalg", "order", "padding", "quantiles", "sets", "shaping", "signal", "statistics"),
    *("elementwise", "nans", "windows"),
)
_OF_ATTENTION = ("Span", "cut", "is_full", "limits", "part", "sees", "without_padding")
_OF_RANDOM = ("arithmetic", "beta_numbers", "random_draw", "random_keys", "random_permutation")
_LAZY = {
    **{name: (f"extra.{name}", "") for name in _EXTRA},
    **{name: ("attention", name) for name in _OF_ATTENTION},
    **{name: ("random", name) for name in _OF_RANDOM},
    "blocks_counting": ("sharding.counting", ""),
    "blocks_selection": ("sharding.selection", ""),
    "blocks_sorting": ("sharding.sorting", ""),
    "complex_order": ("complex_order", ""),
    "is_sound": ("sparse", "is_sound"),
}
__getattr__ = lazy_attributes(globals(), "xarrayops._generic", _LAZY)
