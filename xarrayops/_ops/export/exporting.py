"""export: write a function to a file that other programs run, and verify the file before it is kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from xarrayops.plugin.export import Target

if TYPE_CHECKING:
    from xarrayops._ops.export.exported import Exported
    from xarrayops._ops.export.request import Dynamic


def export(
    function: Callable[..., Any],
    /,
    *examples: Any,
    target: Target,
    path: str | os.PathLike[str],
    dynamic: Dynamic | None = None,
    samples: Sequence[tuple[Any, ...]] = (),
) -> Exported:
    """Write a function to a file of another format; the file is loaded, run and compared before it is kept.

    The exporters of the format are tried in order, and the first whose file agrees with the function is used. Files are
    written next to ``path`` and moved there once they agree, so an existing file is only replaced by a verified one.

    A file is compared at the examples, with their values in another order and with the opposite sign, and at further
    lengths of each dynamic axis. The allowed difference is the same as for `jit`, for each element: sixteen times the
    rounding. NaN, infinities and axes of length one and two are tried too; differences there are noted in the report.

    Parameters
    ----------
    function : callable
        A function of positional arguments that returns a pytree of arrays. It must be written for arrays of any
        library: NumPy arrays, for example, are exported as PyTorch tensors.
    *examples
        The arguments of a call, of one library. The file gets the shapes and dtypes of the arrays; all other arguments
        are constants of the file.
    target : {"onnx", "stablehlo", "pt2", "torchscript", "tensorrt"}
        "onnx" is written by ``torch.onnx`` with opset 23, or by jax2onnx; "stablehlo" by ``jax.export``; "pt2" by
        ``torch.export``; "torchscript" by ``torch.jit.trace``, which is deprecated; "tensorrt" by torch_tensorrt, which
        was never run on hardware by the developers.
    path : path
        The file to write. Its folder must exist.
    dynamic : dict
        The axes whose length may change: ``{"x": {0: "n"}}`` is axis 0 of argument x. Equal names mean equal lengths.
        Arrays in nested arguments are named by their path, as in the file: ``params["layers"][1]`` is
        ``"params_layers_1"``.
    samples : sequence of tuples
        Further arguments to compare at. They are needed if the function rejects all generated arguments, for example
        because a matrix must be positive definite.

    Returns
    -------
    Exported
        A function that runs the file, for arrays of any library. Its ``report`` has the exporter, the operators in the
        file, and each comparison.

    Raises
    ------
    Unsupported
        No exporter wrote a file that agrees; the message has the reason for each. The function writes to its arguments,
        is random, or does not return arrays.
    ValueError
        An option is invalid, or the examples have no array.
    FileNotFoundError
        The folder of ``path`` does not exist.

    Notes
    -----
    Law: ``export(f, *a, ...)(*a)`` equals ``f(*a)`` within rounding, and no other file is left.

    The arguments of the file are only the arrays, in the order of ``report.inputs``; likewise for the results. Load the
    files with ``onnxruntime.InferenceSession``, ``jax.export.deserialize``, ``torch.export.load`` or
    ``torch.jit.load``. With ONNX, `attention` is the one operator Attention where that operator can express the call.

    Examples
    --------
    >>> import tempfile, numpy as np, xarrayops as xo
    >>> def centred(x):
    ...     return x - xo.mean(x, axis=0)
    >>> x = np.random.default_rng(0).random((6, 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = xo.export(centred, x, target="pt2", dynamic={"x": {0: "n"}}, path=f"{folder}/centred.pt2")
    >>> list(file.report.compared)
    ['the examples', 'other values', 'opposite signs', 'n = 3', 'n = 13', 'n = 59']
    >>> bool(np.allclose(file(x[:5]), centred(x[:5])))
    True
    """
    from xarrayops._ops.export.writing import exported  # not needed by `import xarrayops`

    return exported(function, examples, target, path, dynamic or {}, tuple(samples))
