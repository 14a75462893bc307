"""The identity of an environment: its Python, its xarrayops and the code of its workloads.

``python -m xarrayops.bench.run.environment SOURCE...`` prints it as JSON, for another environment to read.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from xarrayops import __version__
from xarrayops.bench import workload_sources
from xarrayops.bench.workload import Workload

PROTOCOL = 2
"""The version of the worker protocol. Only environments with the same version can be interleaved."""
ISOLATION_FLAGS = ("-E", "-P")
"""Options of the other environment's Python, so that it imports neither from PYTHONPATH nor from the working folder."""
_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Identity:
    """The identity of an environment.

    Attributes
    ----------
    command : tuple of str
        The command that starts its Python.
    prefix, package : str
        The folders of the environment and of its xarrayops.
    python, xarrayops : str
        Their versions.
    digests, code : dict of str to str
        The digest and the source code of each of its workloads.
    protocol : int
        The version of its worker protocol.
    """

    command: tuple[str, ...]
    prefix: str
    package: str
    python: str
    xarrayops: str
    digests: dict[str, str]
    code: dict[str, str]
    protocol: int = PROTOCOL

    @classmethod
    def here(cls, workloads: Sequence[Workload]) -> Self:
        """The identity of the environment of this process."""
        digests = {workload.name: workload_sources.digest(workload) for workload in workloads}
        code = {workload.name: workload_sources.code_of(workload) for workload in workloads}
        package = str(Path(workload_sources.__file__).parents[1])
        return cls((sys.executable,), sys.prefix, package, platform.python_version(), __version__, digests, code)

    @classmethod
    def of(cls, python: str, sources: Sequence[str]) -> Self:
        """The identity of the environment of another Python, with the workloads of these sources.

        Raises
        ------
        ValueError
            It cannot be run, or cannot be interleaved with this environment.
        """
        command = (python, *ISOLATION_FLAGS)
        try:
            done = subprocess.run(
                [*command, "-m", __spec__.name, *sources],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except OSError as error:
            hint = f"; it is a folder, try {python}/bin/python" if Path(python).is_dir() else ""
            raise ValueError(f"{python or 'an empty path'} cannot be run: {error.strerror}{hint}") from None
        except subprocess.TimeoutExpired:
            raise ValueError(f"{python} did not answer within {_TIMEOUT_S:.0f} s") from None
        last = (done.stdout.strip().splitlines() or [""])[-1]
        if done.returncode or not last.startswith("{"):
            why = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise ValueError(f"{python} has no compatible xarrayops; install it there too: {why}")
        answer = json.loads(last)
        if "problem" in answer:
            raise ValueError(f"with {python}, {answer['problem']}")
        if answer.get("protocol") != PROTOCOL:
            raise ValueError(f"the xarrayops of {python} has another worker protocol; install the same version")
        return cls(**{**answer, "command": command})


def main() -> None:
    """Print the identity of this environment, or why its workloads cannot be loaded."""
    try:
        answer = asdict(Identity.here(workload_sources.load(sys.argv[1:])))
    except ValueError as error:
        answer = {"problem": str(error)}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
