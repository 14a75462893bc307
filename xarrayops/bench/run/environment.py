"""What an environment is: its Python, its xarrayops and the code of its workloads.

``python -m xarrayops.bench.run.environment SOURCE...`` prints it as JSON, by which one environment learns of another.
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

PROTOCOL = 1
"""The version of what workers are asked and answer: environments that have the same can be measured by turns."""
AWAY = ("-E", "-P")
"""Options of another environment's Python: neither PYTHONPATH nor the folder it is started in lend it code."""
_ASKING_S = 60.0


@dataclass(frozen=True)
class Identity:
    """An environment.

    Attributes
    ----------
    command : tuple of str
        What starts its Python.
    prefix, package : str
        Its folder, and that of its xarrayops.
    python, xarrayops : str
        Their versions.
    digests, code : dict of str to str
        Of each workload that it has, what changes with its code, and the source of what is timed.
    protocol : int
        What its workers understand.
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
        """That of this process."""
        digests = {workload.name: workload_sources.digest(workload) for workload in workloads}
        code = {workload.name: workload_sources.code_of(workload) for workload in workloads}
        package = str(Path(workload_sources.__file__).parents[1])
        return cls((sys.executable,), sys.prefix, package, platform.python_version(), __version__, digests, code)

    @classmethod
    def of(cls, python: str, sources: Sequence[str]) -> Self:
        """What another environment's Python tells, with the workloads of these sources.

        Raises
        ------
        ValueError
            It cannot be run, or not be measured with this one; the message says why.
        """
        command = (python, *AWAY)
        try:
            asked = subprocess.run(
                [*command, "-m", __spec__.name, *sources],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_ASKING_S,
                check=False,
            )
        except OSError as error:
            folder = (
                f"; it is a folder, of which {python}/bin/python may be the Python" if Path(python).is_dir() else ""
            )
            raise ValueError(f"{python or 'an empty path'} cannot be run: {error.strerror}{folder}") from None
        except subprocess.TimeoutExpired:
            raise ValueError(f"{python} said nothing for {_ASKING_S:.0f} s") from None
        last = (asked.stdout.strip().splitlines() or [""])[-1]
        if asked.returncode or not last.startswith("{"):
            why = (asked.stderr.strip().splitlines() or [f"exit status {asked.returncode}"])[-1]
            raise ValueError(f"{python} has no xarrayops like this one; install it there as well: {why}")
        told = json.loads(last)
        if "problem" in told:
            raise ValueError(f"with {python}, {told['problem']}")
        if told.get("protocol") != PROTOCOL:
            raise ValueError(f"the workers of {python} understand other commands than those of this environment")
        return cls(**{**told, "command": command})


def main() -> None:
    """Print what this environment is, or why its workloads cannot be loaded."""
    try:
        told = asdict(Identity.here(workload_sources.load(sys.argv[1:])))
    except ValueError as error:
        told = {"problem": str(error)}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
