"""`rewrite`: rewrite a NumPy program for every library, with edits that keep its meaning only."""

from __future__ import annotations

from pathlib import Path

from xarrayops.port.basics import STYLES
from xarrayops.port.rewriting.edits import Edit, Returned, Rewritten, Todo
from xarrayops.port.source import PortError, Program, read

__all__ = ["Edit", "Returned", "Rewritten", "Todo", "rewrite"]


def rewrite(
    path: str | Path,
    *,
    style: str = "numpy",
    return_arguments: bool = False,
    scipy_array_api: bool = False,
    vectorize: bool = False,
    scan: bool = False,
    call: str | None = None,
) -> Rewritten:
    """Rewrite a NumPy program for every library.

    Only edits that keep the meaning are made, each with its reason. A place without a proof gets a comment
    ``TODO(port)`` with the problem. The file does not change, and rewriting the result changes nothing.

    Parameters
    ----------
    path : str or path
        A file of Python, or a notebook: the text is that of its code cells, and `Rewritten.content` the notebook.
    style : {"numpy", "xo"}
        Whether the functions keep NumPy's names, from `xarrayops.numpy`, or become ours: ``np.std(x, 0, ddof=1)`` as
        ``xo.std(x, axis=0, correction=1)``. A call without a proof that both do the same keeps NumPy's name, with a
        comment.
    return_arguments : bool
        Whether functions that write into their arguments return them, so that they serve libraries whose arrays cannot
        change: their signatures change openly, with the calls in the file.
    scipy_array_api : bool
        Whether calls of SciPy stay where SciPy takes the arrays of PyTorch, JAX and CuPy on every device. It does if
        the variable ``SCIPY_ARRAY_API`` is set when it is imported: a file that starts a program gets a line that sets
        it, and other files a comment.
    vectorize : bool
        Whether masked assignments and loops whose steps are independent become functions of whole arrays, which can be
        compiled. Without ``call`` these are the edits with a proof.
    scan : bool
        Whether ``vectorize`` writes loops whose steps need the step before as `xo.scan`, if ``call`` shows that the
        result stays. A compiler makes one loop of it. Without one it takes many times as long as the loop.
    call : str, optional
        A call such as ``"f(np.ones(9))"``. The program is executed: the call decides on the other edits of
        ``vectorize``, and those that change its result are not made.

    Returns
    -------
    Rewritten
        The text, the edits and the places that need a decision.

    Raises
    ------
    PortError
        The file cannot be read as Python, or libcst is not installed.
    """
    if style not in STYLES:
        raise ValueError(f"rewrite: style must be one of {', '.join(STYLES)}, not {style!r}")
    if call is not None and not vectorize:
        raise ValueError("rewrite: call decides on the edits of vectorize. Instead: vectorize=True with it")
    if scan and call is None:
        raise ValueError("rewrite: scan needs a call that decides on its edits. Instead: vectorize=True and call=")
    source = read(path)
    try:
        from libcst import ParserSyntaxError

        from xarrayops.port.rewriting.transform import rewritten
    except ModuleNotFoundError as error:
        if error.name != "libcst":
            raise
        raise PortError('rewrite needs libcst. Instead: pip install "xarrayops[port]"') from None
    try:
        program = Program(source, scipy_array_api=scipy_array_api)
        return rewritten(program, style, return_arguments=return_arguments, vectorize=vectorize, scan=scan, call=call)
    except ParserSyntaxError as error:
        raise PortError(f"{path}: libcst does not read this code: {error.message}") from None
