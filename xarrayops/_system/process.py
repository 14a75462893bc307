"""A worker process as the parent holds it: ask with a time limit; a silent death becomes an answer too."""

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
_LAST_WORDS_S = 5.0


@contextmanager
def keep_stdout() -> Iterator[TextIO]:
    """In a worker: stdout for the answers alone. Whatever a library prints meanwhile goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)
        yield answers


def die_with_parent() -> None:
    """In a worker that may be frozen: not to outlive a parent that was killed."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Worker:
    """``PYTHON -m MODULE ARGUMENTS``, with more environment. It starts at once; its first answer is the greeting."""

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
        """Whether it can be asked."""
        return self.process.poll() is None

    def freeze(self) -> None:
        """Take the CPUs away from it until it is asked: threads of a library may spin long after their work is done."""
        if _LINUX and self.alive:
            self.process.send_signal(signal.SIGSTOP)

    def ask(self, command: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a command; past so many seconds the process is ended and the answer is "timeout"."""
        assert self.process.stdin is not None
        if _LINUX and self.alive:
            self.process.send_signal(signal.SIGCONT)
        with suppress(OSError):  # if it is dead, the answer will tell
            self.process.stdin.write(json.dumps(command) + "\n")
            self.process.stdin.flush()
        return self.answer(seconds)

    def answer(self, seconds: float) -> dict[str, Any]:
        """The next answer; "timeout" or "crashed", and the process ended, if there is none."""
        try:
            line = self._line(seconds)
        except queue.Empty:
            self.close()
            return {"status": "timeout", "reason": f"no answer within {seconds:.0f} s", "fix": "A longer --timeout."}
        if line is _END:
            return self._death()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _line(self, seconds: float) -> str | None:
        """The next line that it writes, or `_END`; `queue.Empty` where none comes within so many seconds."""
        return self._answers.get(timeout=max(0.0, seconds))

    def _death(self) -> dict[str, Any]:
        """Why the process died, as far as the system tells."""
        try:
            status = self.process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:  # it says no more, but hangs in what its libraries do at the end
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
                return {"status": "out-of-memory", "reason": reason, "fix": "A smaller --size, or more memory."}
            reason = f"the process died by {name}"
        else:
            reason = f"the process ended with exit status {status}"
        return {
            "status": "crashed",
            "reason": f"{reason}: {last}" if last else reason,
            "fix": "Report it as a bug, with the versions of this row.",
        }

    def dismiss(self) -> None:
        """Let the process end by itself: there will be no more commands."""
        assert self.process.stdin is not None
        with suppress(OSError):
            self.process.stdin.close()
        if _LINUX and self.alive:
            self.process.send_signal(signal.SIGCONT)

    def close(self, *, grace_s: float = 0.0) -> None:
        """End the process, which has so many seconds to do it by itself."""
        assert self.process.stdout is not None
        self.dismiss()
        try:
            self.process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(_LAST_WORDS_S)
        if not self._reader.is_alive():  # a process that the worker started may still hold the other end
            self.process.stdout.close()
        self._stderr.close()
