"""The two programs of ``verify``: they are executed, compared, and timed."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from xarrayops.errors import XArrayOpsError
from xarrayops.port.basics import PortError

if TYPE_CHECKING:
    from xarrayops.testing._verify._report import Report


def _show_progress(name: str) -> None:
    """Print the name of a run that begins."""
    print(f"{name} ...", file=sys.stderr, flush=True)


def compared(arguments: Namespace) -> tuple[Report, list[Any]]:
    """The report of two files, and with ``--time`` the times on each library if the report is good."""
    _show_progress("the reference on NumPy")

    import numpy  # the imports are slow

    from xarrayops.port.loading import arguments_of, calls_of, function_of, last_line, loaded, parsed_call
    from xarrayops.port.scripts import script
    from xarrayops.testing import verify

    call = None if arguments.run else parsed_call(arguments.call)
    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = {}
    with ExitStack() as modules:
        try:
            if call is None:
                expected = script(arguments.original)
                function = expected if arguments.port is None else script(arguments.port)
            else:
                original = loaded(arguments.original, "original", modules)
                port = original if arguments.port is None else loaded(arguments.port, "port", modules)
                variables = {"np": numpy, "numpy": numpy, **vars(original)}
                several = [arguments_of(each, variables) for each in calls_of(call)]
                args, keywords = several[0] if len(several) == 1 else (tuple(several), {})
                expected = function_of(original, arguments.original, call)
                function = function_of(port, arguments.port or arguments.original, call)
            report = verify(
                function,
                *args,
                expected=None if function is expected else expected,
                keywords=keywords,
                libraries=arguments.libraries,
                replay=not arguments.no_replay,
                seconds=arguments.seconds,
                progress=_show_progress,
            )
            times = _times(arguments, expected, function, args, keywords) if arguments.time and report.ok else []
            return report, times
        except PortError:
            raise
        except (Exception, SystemExit) as error:  # the files of users may raise anything
            files = {str(path.resolve()): path for path in (arguments.original, arguments.port) if path is not None}
            ran = last_line(error, files)
            place = f"{files[ran[0]]}, line {ran[1]}: " if ran else ""
            raise PortError(f"{place}{type(error).__name__}: {error}") from None


def _times(arguments: Namespace, original: Any, port: Any, args: Any, keywords: Any) -> list[Any]:
    """The times of the port on each selected library without a compiler; by default on NumPy."""
    from xarrayops.port.timing import side_by_side

    libraries = dict.fromkeys(each.partition(":")[0] for each in arguments.libraries or ("numpy",))
    path, found = arguments.port or arguments.original, []
    for each in libraries:
        try:
            found.append(side_by_side(original, port, args, keywords, path=path, library=each))
        except XArrayOpsError as error:  # the library does not take the arrays: the report says so, too
            print(f"{each} is not timed: {error}", file=sys.stderr)
    return found
