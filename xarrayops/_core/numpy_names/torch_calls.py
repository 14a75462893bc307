"""What to write instead of a call with PyTorch's keywords, such as ``dim=``. Imported only for errors."""

from __future__ import annotations

from typing import Any

from xarrayops._core.numpy_names.positions import parameters
from xarrayops._core.numpy_names.written import Call

OPTIONS = {"dim": ("axis", "axes"), "dims": ("axis", "axes"), "keepdim": ("keepdims",), "unbiased": ("correction",)}
"""By PyTorch's keyword, our names of the same option."""
INDICES = {"max": "argmax", "min": "argmin", "sort": "argsort"}
"""By the functions that also return indices in PyTorch where they get an axis, ours for the indices."""


def answer(verb: str, given: dict[str, Any]) -> str | None:
    """The text about a call with PyTorch's keywords; None without one, or with too many arguments by position."""
    theirs = [name for name in OPTIONS if given.get(name) is not None]
    ours = parameters(verb)
    if not theirs or "extra" in given:
        return None
    options: dict[str, Any] = {}
    for name in theirs:
        value = given[name]
        option = next(option for option in OPTIONS[name] if option in ours)
        options[option] = int(value) if name == "unbiased" else tuple(value) if isinstance(value, list) else value
    remark = ""
    if verb in ("std", "var") and "unbiased" not in theirs and not given.get("correction"):
        options["correction"] = 1
        remark = " (correction=1 is PyTorch's default; here it is 0)"
    elif verb in INDICES and "dim" in theirs:
        remark = f" (the values; the indices are those of xo.{INDICES[verb]})"
    if given.get("out") is not None:
        remark += ". The result is a new array"
    known = {name: value for name, value in given.items() if name in ours}
    names = " and ".join(f"{name}=" for name in theirs)
    return f"xo.{verb} has no {names}. Instead: {Call(verb, {**known, **options}, {}).text()}{remark}"
