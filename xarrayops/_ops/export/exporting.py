"""export: write a function to a file that other programs run, and prove the file before it is kept."""

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

    The exporters of the format are tried in order, and the first whose file agrees with the function serves. Files are
    written beside ``path`` and moved there when they have agreed, so an existing file is only replaced by a proven one.

    A file is compared at the examples, with their values in another order and with the opposite sign, and at further
    lengths of each dynamic axis. The allowed difference is that of `jit`, for each element: sixteen times the rounding.
    NaN, infinities and axes of length one and two are tried too; differences there are notes of the report.

    Parameters
    ----------
    function : callable
        A function of positional arguments that returns arrays, nested or not. It must be written for arrays of any
        library: arrays of NumPy, for example, are exported as tensors of PyTorch.
    *examples
        The arguments of a call, of one library. Shapes and dtypes of the arrays are those of the file; all other
        arguments are constants of the file.
    target : {"onnx", "stablehlo", "pt2", "torchscript", "tensorrt"}
        "onnx" is written by ``torch.onnx`` with opset 23, or by jax2onnx; "stablehlo" by ``jax.export``; "pt2" by
        ``torch.export``; "torchscript" by ``torch.jit.trace``, which is deprecated; "tensorrt" by torch_tensorrt, which
        was never run on hardware by the developers.
    path : path
        The file to write. Its folder must exist.
    dynamic : dict
        The axes whose length may change: ``{"x": {0: "n"}}`` is axis 0 of argument x. Axes of one name have one length.
        Arrays in nested arguments are named by their path, as in the file: ``params["layers"][1]`` is
        ``"params_layers_1"``.
    samples : sequence of tuples
        Further arguments to compare at. They are needed if the function accepts none of those that are made, such as
        for a matrix that must be positive definite.

    Returns
    -------
    Exported
        A function that runs the file, for arrays of any library. Its ``report`` has the exporter, the operators in the
        file, and each comparison.

    Raises
    ------
    Unsupported
        No exporter gave a file that agrees; the message has the reason of each. The function writes its arguments, is
        random, or returns no array.
    ValueError
        An option is wrong, or the examples have no array.
    FileNotFoundError
        The folder of ``path`` does not exist.

    Notes
    -----
    Law: ``export(f, *a, ...)(*a)`` equals ``f(*a)`` within rounding, and no other file is left.

    In the file the arguments are the arrays alone, one after the other, in the order of ``report.inputs``; so are the
    results. Load the files with ``onnxruntime.InferenceSession``, ``jax.export.deserialize``, ``torch.export.load`` or
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
