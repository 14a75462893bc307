"""precision and autocast: blocks that set how products are computed."""

from __future__ import annotations

from typing import Any

from xarrayops._core.modes.defaults import floating_name
from xarrayops._core.modes.precision import policy, widens
from xarrayops._core.modes.settings import Scope, Setting
from xarrayops.errors import Unsupported, available_names
from xarrayops.plugin.precision import HALVES, MULTIPLICATIONS, SUMS, Policy


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
        self,
        *,
        compute: Any = None,
        accumulate: Any = "float32",
        output: Any = None,
        products: str = "ieee",
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
