"""Write the signatures of CuPy's functions to tests/standins/cupy_signatures.json, which the stand-in enforces.

    .venv-cupy/bin/python tools/cupy_signatures.py [--check]

Needs the real CuPy, but no GPU: ``make cupy-signatures`` makes the environment. The names are those that the stand-in
defines. Their signatures come from Python where available, otherwise from the first line of the docstring, where Cython
writes them. The file also holds the dtypes of the loops of each ufunc. ``--check`` ends with 1 if the file is outdated.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STANDIN = ROOT / "tests" / "standins" / "cupy"
FILE = ROOT / "tests" / "standins" / "cupy_signatures.json"
LIST = "import json, cupy, cupyx.scipy.sparse; print(json.dumps(sorted(cupy._signatures.DEFINED)))"
WITHOUT_DEVICES = {"CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
PLAIN = "..."
"""The placeholder for any default."""


def defined() -> list[str]:
    """The qualified names that the stand-in defines. A separate process reads them, because it has CuPy's name."""
    environment = {**os.environ, **WITHOUT_DEVICES, "PYTHONPATH": str(STANDIN)}
    done = subprocess.run([sys.executable, "-c", LIST], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return list(json.loads(done.stdout))


def resolve(name: str) -> Any:
    """The object with a qualified name in the installed packages.

    Raises
    ------
    AttributeError
        CuPy has no such name.
    """
    root, *attributes = name.split(".")
    found, path = import_module(root), root
    for attribute in attributes:
        path += f".{attribute}"
        try:
            found = getattr(found, attribute)
        except AttributeError:
            try:
                found = import_module(path)
            except ImportError:
                raise AttributeError(f"CuPy has no {name}") from None
    return found


def signature_of(name: str, found: Any) -> str | None:
    """The parameters as in a ``def``, with ``...`` for every default; None for objects that are not functions."""
    import cupy

    if not callable(found) or (inspect.isclass(found) and issubclass(found, Exception)):
        return None
    if isinstance(found, cupy.ufunc):
        inputs = ", ".join(f"x{i + 1}" for i in range(found.nin))
        out = f"out={PLAIN}, *" if found.nout == 1 else f"*, out={PLAIN}"
        return f"{inputs}, /, {out}, casting={PLAIN}, dtype={PLAIN}"
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        signature = None
    if signature is None or inspect.Parameter.VAR_KEYWORD in {p.kind for p in signature.parameters.values()}:
        parameters_text = documented(name, found)
        if parameters_text is not None:
            return parameters_text
    if signature is None:
        raise ValueError(f"the signature of {name} is unknown")
    is_method = inspect.isclass(resolve(name.rpartition(".")[0]))
    parameters = [
        p.replace(annotation=p.empty, default=p.default if p.default is p.empty else Ellipsis)
        for p in list(signature.parameters.values())[is_method:]
    ]
    return str(inspect.Signature(parameters))[1:-1].replace("Ellipsis", PLAIN)


def documented(name: str, found: Any) -> str | None:
    """The parameters in the docstring, without C types and ``self``; None if the docstring has no signature."""
    last = name.rpartition(".")[2]
    match = re.search(rf"^\s*[\w.]*?(?:\b{last}|__init__)\((.*)\)(?: ->.*)?$", found.__doc__ or "", re.MULTILINE)
    if match is None:
        return None
    parameters = []
    for part in re.split(r",\s*(?![^(\[]*[)\]])", match[1].replace("\\", "")):
        target, given, _ = part.partition("=")
        words = target.split()
        if words and words[-1] != "self":
            parameters.append(words[-1] + (f"={PLAIN}" if given else ""))
    return ", ".join(parameters)


def read() -> dict[str, Any]:
    """The content of the file."""
    import cupy

    found = {name: resolve(name) for name in defined()}
    return {
        "cupy": cupy.__version__,
        "made by": "make cupy-signatures, and then .venv-cupy/bin/python tools/cupy_signatures.py",
        "signatures": {name: signature_of(name, value) for name, value in found.items()},
        "loops": {name: " ".join(value.types) for name, value in found.items() if isinstance(value, cupy.ufunc)},
    }


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python tools/cupy_signatures.py", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 if the file is outdated")
    options = parser.parse_args()
    now = json.dumps(read(), indent=1) + "\n"
    if not options.check:
        FILE.write_text(now)
        return 0
    if FILE.read_text() == now:
        return 0
    print(
        f"{FILE.relative_to(ROOT)} differs from the CuPy of {sys.executable}: run this tool without --check",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
