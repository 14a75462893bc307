"""precision and autocast: blocks that set how products are computed, and what `explain` says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

from xarrayops._core.backends import find
from xarrayops._core.backends.registry import Backend
from xarrayops._core.modes.defaults import floating_name
from xarrayops._core.modes.precision import policy, widens
from xarrayops._core.modes.settings import Scope, Setting
from xarrayops._ops.explanation import Explanation
from xarrayops.errors import Unsupported, available_names
from xarrayops.plugin.precision import AUTOCAST, HALVES, MULTIPLICATIONS, PRODUCTS, SUMS, Policy


class precision(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.precision(...)
    """Set how products are computed inside a ``with`` block, in the same way on every library.

    It affects `matmul`, `einsum`, `tensordot`, `vecdot`, `attention` and `qmatmul` of xarrayops in its own thread or
    task; operators and functions of the libraries are not affected. Their floating-point operands are rounded to
    ``compute``, the products are summed in ``accumulate`` or a wider dtype, and the result is rounded once, to
    ``output``. If a library has no such product, the rounded operands are widened, which is exact; `explain` shows the
    casts. Products of integers and booleans are not affected. Complex numbers keep their dtype, and ``products`` holds
    for their parts.

    Functions that `jax.jit` or `torch.compile` compiled are compiled again for a block with another policy, as for
    `use`. Gradients pass through the casts, and have the dtypes of the operands. PyTorch computes gradients outside of
    the block: its own settings determine whether it uses TF32 there.

    Parameters
    ----------
    compute : str or dtype, optional
        ``"float16"``, ``"bfloat16"``, ``"float32"`` or ``"float64"``; None for the promoted dtype of the operands.
    accumulate : str or dtype
        ``"float32"`` or ``"float64"``. Sums are never narrower than float32.
    output : str or dtype, optional
        The dtype of the result; None for the promoted dtype of the operands, as without a block. The logsumexp of
        `attention` is not affected.
    products : str
        ``"ieee"``: float32 numbers are multiplied as IEEE float32. ``"tf32"``: also in TF32, which has 11 significant
        bits, if the device supports it, as CUDA devices do. On CPUs both are IEEE float32.

    Raises
    ------
    Unsupported
        By the block: sums in a half type. By a call: the library lacks a dtype of the policy, such as float64 in JAX
        while its 64-bit types are off; an operand is sparse; the library or compiled code cannot multiply in this way.
    TypeError, ValueError
        A dtype is not a real floating-point dtype, or ``products`` has another value.

    Notes
    -----
    All settings of libraries are restored. PyTorch's TF32 switches apply to the whole process: on a CUDA device, and if
    a user's switch allows a narrower product on the CPU, the switch is set while the product is launched, with a lock
    against other products in such blocks, and then restored.

    Law: ``matmul(a, b)`` is ``astype(matmul(astype(a, compute), astype(b, compute)), output)`` up to the rounding of
    its sums, which use ``accumulate``.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.full((1, 4096), 1 + 2**-12, dtype=np.float32)  # in float16 they are 1, and their sum would be 2048
    >>> with xo.precision(compute="float16", output="float32"):
    ...     y = xo.matmul(x, x.T)
    >>> y
    array([[4096.]], dtype=float32)
    """

    _is_mode = True

    def __init__(
        self, *, compute: Any = None, accumulate: Any = "float32", output: Any = None, products: str = "ieee"
    ) -> None:
        super().__init__()
        sums = floating_name("precision", accumulate)
        if sums in HALVES:
            raise Unsupported(
                f'xo.precision: no library sums in {sums} alone. Instead: accumulate="float32", and for a result of '
                f'that dtype output="{sums}"'
            )
        if sums not in SUMS:
            raise TypeError(f"xo.precision: accumulate must be one of {', '.join(SUMS)}; it was {accumulate!r}")
        if products not in MULTIPLICATIONS:
            raise ValueError(
                f"xo.precision: no products={products!r}: {available_names(str(products), MULTIPLICATIONS)}"
            )
        self._policy = Policy(floating_name("precision", compute), sums, floating_name("precision", output), products)

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The policy."""
        return [(policy, tuple(self._policy), None)]


class autocast(Scope):  # noqa: N801 - lower case, because it is used as a statement: with xo.autocast()
    """Compute in mixed precision inside a ``with`` block: products in a half type, and sums in float32.

    The recipe of `torch.autocast`, on every library. `matmul`, `einsum`, `tensordot`, `vecdot`, `attention` and
    `qmatmul` round their operands to ``dtype``, sum in float32 and return ``dtype``, like `precision`. Functions that
    lose too much precision in a half type cast operands of half types to float32: exponentials and logarithms, powers,
    sums,
    means, `softmax`, norms and linear algebra. All others compute in the widest dtype of their operands, as without a
    block. float64 operands are not affected. `explain` shows what a call would do.

    Only functions of xarrayops are affected, in this thread or task. For functions, operators and modules of PyTorch,
    open a block of `torch.autocast` as well.

    Parameters
    ----------
    dtype : str or dtype, optional
        ``"bfloat16"`` or ``"float16"``; None for no mixed precision in this block.

    Raises
    ------
    TypeError
        The dtype is not a half type.
    Unsupported
        By a call, as for `precision`.

    Examples
    --------
    >>> import numpy as np, xarrayops as xo
    >>> x = np.ones((2, 3), dtype=np.float32)
    >>> with xo.autocast("float16"):
    ...     y = xo.matmul(x, x.T)
    ...     y.dtype, xo.sum(y).dtype
    (dtype('float16'), dtype('float32'))
    """

    _is_mode = True

    def __init__(self, dtype: Any = "bfloat16") -> None:
        super().__init__()
        name = floating_name("autocast", dtype)
        if name is not None and name not in HALVES:
            raise TypeError(f"xo.autocast: dtype must be one of {', '.join(HALVES)}, or None; it was {dtype!r}")
        self._policy = None if name is None else tuple(Policy(name, output=name, keeps_float64=True))

    def settings(self) -> list[tuple[Setting[Any], Any, Any]]:
        """The policy of products, and whether the other functions of the recipe compute in float32."""
        return [(policy, self._policy, None), (widens, self._policy is not None, False)]


Explainer = Callable[..., Explanation]
_OPERANDS = {"attention": 3, "qmatmul": 1}
"""The number of arrays that a policy casts, if not all."""


def with_precision(verb: str, explainer: Explainer) -> Explainer:
    """The explainer of a verb; in a block of `precision` or `autocast` it also shows the casts."""
    if verb in PRODUCTS and policy.value(None) is not None:
        return _of_product(explainer)
    if AUTOCAST.get(verb) == "float32" and widens.value(False):
        return _of_widened(explainer)
    return explainer


def _of_product(explainer: Explainer) -> Explainer:
    def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
        places = [i for i, x in enumerate(args) if hasattr(x, "dtype")][: _OPERANDS.get(verb)]
        backend = _common(args[i] for i in places)
        current = policy.value(None)
        if backend is None or current is None:
            return explainer(verb, *args, **kwargs)
        plan = backend.precision_plan(current, tuple(args[i].dtype for i in places))
        if plan is None:
            return _noted(explainer(verb, *args, **kwargs), "the precision policy does not affect these dtypes")
        compute, work, output, _ = plan
        backend.functions["product_precision"](plan[3], *(args[i] for i in places))  # raises if it cannot be followed
        given, casts = list(args), []
        for i in places:
            if compute is not None and {args[i].dtype, compute, work} != {args[i].dtype}:
                steps = [backend.functions["dtype_name"](dtype) for dtype in (args[i].dtype, compute, work)]
                casts.append(f"casts operand {i + 1 - places[0]}, {_path(steps)}")
                given[i] = backend.namespace.empty_like(args[i], dtype=work)
        if output is not None and output != work:
            casts.append(f"casts the result, {_path(map(backend.functions['dtype_name'], (work, output)))}")
        return _noted(explainer(verb, *given, **kwargs), _described(Policy(*current)), casts)

    return explain


def _of_widened(explainer: Explainer) -> Explainer:
    def explain(verb: str, /, *args: Any, **kwargs: Any) -> Explanation:
        given, casts = list(args), []
        for i, x in enumerate(args):
            backend = _common([x]) if hasattr(x, "dtype") else None
            name = None if backend is None else backend.functions["dtype_name"](x.dtype)
            if backend is not None and name in HALVES:
                casts.append(f"casts operand {i + 1}, {name} -> float32")
                given[i] = backend.namespace.empty_like(x, dtype=backend.native_dtype("float32"))
        return _noted(explainer(verb, *given, **kwargs), "autocast computes it in float32", casts)

    return explain


def _common(arrays: Iterator[Any] | list[Any]) -> Backend | None:
    """The backend of all arrays; None if there is none, or several."""
    found = {find.of(x) for x in arrays if find.sparse_of(x) is None}
    return found.pop() if len(found) == 1 else None


def _path(names: Any) -> str:
    """The sequence of dtypes of an array, as text."""
    return " -> ".join(name for name, _ in groupby(names))


def _described(found: Policy) -> str:
    """The policy, in the words of `precision`."""
    fields = ("compute", "accumulate", "output", "products")
    return f"precision: {', '.join(f'{name} {value}' for name in fields if (value := getattr(found, name)))}"


def _noted(found: Explanation, note: str, casts: list[str] | None = None) -> Explanation:
    """The explanation with a note, and with the casts at the candidate that is chosen."""
    candidates = tuple(
        c._replace(copies=(*(casts or ()), *c.copies)) if c.name == found.chosen else c for c in found.candidates
    )
    return found._replace(summary=f"{found.summary}; {note}", candidates=candidates)
