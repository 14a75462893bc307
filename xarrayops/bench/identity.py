"""What an environment is: its Python, its xarrayops and the code of its workloads.

``python -m xarrayops.bench.identity SOURCE...`` prints it as JSON, by which one environment learns of another.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

from xarrayops import __version__
from xarrayops.bench import source
from xarrayops.bench.workloads._contract import Workload

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
    prefix, python, xarrayops : str
        Its folder, and the versions.
    digests, code : dict of str to str
        Of each workload that it has, what changes with its code, and the source of what is timed.
    protocol : int
        What its workers understand.
    """

    command: tuple[str, ...]
    prefix: str
    python: str
    xarrayops: str
    digests: dict[str, str]
    code: dict[str, str]
    protocol: int = PROTOCOL

    @classmethod
    def here(cls, workloads: Sequence[Workload]) -> Self:
        """That of this process."""
        digests = {workload.name: source.digest(workload) for workload in workloads}
        code = {workload.name: source.code_of(workload) for workload in workloads}
        return cls((sys.executable,), sys.prefix, platform.python_version(), __version__, digests, code)

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
            raise ValueError(f"{python} cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise ValueError(f"{python} said nothing for {_ASKING_S:.0f} s") from None
        last = (asked.stdout.strip().splitlines() or [""])[-1]
        if asked.returncode or not last.startswith("{"):
            why = (asked.stderr.strip().splitlines() or [f"exit status {asked.returncode}"])[-1]
            raise ValueError(f"{python} has no xarrayops that can be measured with this one: {why}")
        told = json.loads(last)
        if told.get("protocol") != PROTOCOL:
            raise ValueError(f"the workers of {python} understand other commands than those of this environment")
        return cls(**{**told, "command": command})


if __name__ == "__main__":
    print(json.dumps(asdict(Identity.here(source.load(sys.argv[1:])))))
