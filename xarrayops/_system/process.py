"""Worker processes that answer commands within a time limit. A crash becomes an answer too."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from xarrayops._system import machine

_END = None
_LINUX = sys.platform == "linux"
_PR_SET_PDEATHSIG = 1
_EXIT_S = 5.0
REPORT_BUG = "Report it as a bug, with the versions of this row."
"""The fix for a crash that is not the user's fault."""


def failure(status: str, reason: str, fix: str) -> dict[str, Any]:
    """The answer without a result: a code, the reason, and what would help."""
    return {"status": status, "reason": reason, "fix": fix}


@contextmanager
def keep_stdout() -> Iterator[TextIO]:
    """In a worker: reserve stdout for the answers. The output of libraries goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        yield answers


def die_with_parent() -> None:
    """In a worker: end when the parent is killed, even while frozen."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Worker:
    """A process ``PYTHON -m MODULE ARGUMENTS`` with additional environment variables.

    It starts at once. Its first answer, which needs no command, is the handshake.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        python: Sequence[str] = (sys.executable,),
    ) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close
        self._oom_kills = machine.oom_kills()
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self.process = subprocess.Popen(
            [*python, "-m", module, *arguments],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put(_END)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self.process.poll() is None

    def freeze(self) -> None:
        """Stop the process until the next command, because idle threads of a library may keep CPUs busy."""
        if _LINUX and self.alive:
            self.process.send_signal(signal.SIGSTOP)

    def ask(self, command: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a command. After this many seconds the process is ended, and the answer is "timeout"."""
        assert self.process.stdin is not None
        if _LINUX and self.alive:
            self.process.send_signal(signal.SIGCONT)
        with suppress(OSError):  # if the process died, the answer will say so
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        return self.answer(seconds)

    def answer(self, seconds: float) -> dict[str, Any]:
        """The next answer. If there is none, the process is ended, and the answer is "timeout" or "crashed"."""
        try:
            line = self._line(seconds)
        except queue.Empty:
            self.close()
            return failure("timeout", f"no answer within {seconds:.0f} s", "Use a longer --timeout.")
        if line is _END:
            return self._death()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(self, seconds: float) -> str | None:
        """The next line of output, or `_END`. Raises `queue.Empty` if there is none within this many seconds."""
        return self._answers.get(timeout=max(0.0, seconds))

    def _death(self) -> dict[str, Any]:
        """Why the process died."""
        try:
            status = self.process.wait(_EXIT_S)
        except subprocess.TimeoutExpired:  # its stdout is closed, but the exit handlers of a library hang
            self.process.kill()
            status = self.process.wait()
        self._stderr.seek(0)
        last = (self._stderr.read().decode(errors="replace").strip().splitlines() or [""])[-1]
        self.close()
        if status < 0:
            name = signal.Signals(-status).name
            kills = machine.oom_kills()
            if name == "SIGKILL" and kills is not None and self._oom_kills is not None and kills > self._oom_kills:
                reason = "the process was killed while the system ran out of memory"
                return failure("out-of-memory", reason, "Use a smaller --size, or more memory.")
            reason = f"the process was ended by {name}"
        else:
            reason = f"the process ended with exit status {status}"
        return failure("crashed", f"{reason}: {last}" if last else reason, REPORT_BUG)

    def dismiss(self) -> None:
        """Close stdin, so that the process ends by itself."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        if _LINUX and self.alive:
            self.process.send_signal(signal.SIGCONT)

    def close(self, *, grace_s: float = 0.0) -> None:
        """End the process. It is killed if it does not end by itself within this many seconds."""
        assert self.process.stdout is not None
        self.dismiss()
        try:
            self.process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(_EXIT_S)
        if not self._reader.is_alive():  # a child of the worker may still hold the pipe
            self.process.stdout.close()
        self._stderr.close()
