"""Progress on stderr, and intermediate results on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Self

from xarrayops._cli.terminal import BarColumn, Console, Progress, TaskProgressColumn, TextColumn
from xarrayops._system.texts import counted
from xarrayops.bench.results import Results
from xarrayops.bench.run.plan import Step

LINES_EVERY_S = 5.0


class Watcher:
    """Shows a progress bar with finished cells and the time left, and writes intermediate results to the folders.

    ``latest`` holds the latest results for each folder; it is empty before the first.
    """

    def __init__(self, folders: Sequence[Path], console: Console) -> None:
        self.folders, self._printed = folders, float("-inf")
        self.latest: list[Results] = []
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[cells]}at most {task.fields[left]:.0f} s left"),
        )
        self._progress = Progress(*columns, console=console, transient=True)
        self._task = self._progress.add_task("", total=None, cells="", left=0.0)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def step(self, step: Step) -> None:
        """Update the bar. Without a terminal, print a line every `LINES_EVERY_S` seconds instead."""
        cells = f"{step.cells_done} of {counted(step.cells, 'cell')}, " if step.cells else ""
        if step.cells_done == step.cells:
            cells = f"{step.rounds_done} of {counted(step.rounds, 'round')}, " if step.rounds else ""
        if not self._progress.console.is_terminal and monotonic() >= self._printed + LINES_EVERY_S:
            self._printed = monotonic()
            self._progress.console.print(f"{step.phase} ({cells}at most {step.seconds_left:.0f} s left)")
        self._progress.update(
            self._task,
            description=step.phase,
            completed=step.rounds_done,
            total=step.rounds or None,
            cells=cells,
            left=step.seconds_left,
        )

    def results(self, results: list[Results]) -> None:
        """Write the results to their folders."""
        self.latest = results
        for found, folder in zip(results, self.folders, strict=True):
            found.write(folder)
