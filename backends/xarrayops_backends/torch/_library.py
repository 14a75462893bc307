"""Operators of torch.library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_library: Any = torch.library  # untyped


def operator(
    signature: str,
    function: Callable[..., Any],
    *,
    fake: Callable[..., Any] | None = None,
    batched: Callable[..., Any] | None = None,
    gradient: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
) -> Any:
    """The operator ``xarrayops::…`` of a signature, defined once in a process; the gradient has a set-up function.

    `torch.library.custom_op` takes 10 ms to find the source of its caller.
    """
    name, operators = signature.partition("(")[0], torch.ops.xarrayops
    if not hasattr(operators, name):
        library = _library.Library("xarrayops", "FRAGMENT")
        library.define(signature, tags=(torch.Tag.pt2_compliant_tag,))
        library.impl(name, function, "CompositeExplicitAutograd")
        _library.register_fake(f"xarrayops::{name}", fake or function, lib=library)
        if batched is not None:
            _library.register_vmap(f"xarrayops::{name}", batched, lib=library)
        if gradient is not None:
            _library.register_autograd(f"xarrayops::{name}", gradient[0], setup_context=gradient[1], lib=library)
        getattr(operators, name).library = library  # without it the operator would end with its module
    return getattr(operators, name).default
