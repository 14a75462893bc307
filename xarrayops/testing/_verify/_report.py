"""The report of verify: one outcome for each run of the function."""

from __future__ import annotations

from typing import Any, Literal

from xarrayops.plugin.arrays import Record

Status = Literal["same", "different", "raised", "not run", "unsupported"]
# fmt: off
Kind = Literal[
    "dtype", "order of summation", "out of bounds", "duplicate index", "cast", "alias", "random stream",
    "axis or shape", "error", "bug",
]
# fmt: on
"""The kinds of differences; `Divergence` has their meanings."""
_COLUMNS = ("run", "outcome", "seconds", "transfers", "waits", "computes", "compilations", "what")


class Divergence(Record):
    """The first line of a run whose variable leaves the error budget.

    Attributes
    ----------
    file, line, function : str, int, str
        The line of the port.
    source : str
        Its text.
    variable : str
        The variable that differs; "return" with its path for a result.
    kind : str
        The kind of the difference:

        - dtype: a value has another dtype, or was computed in one
        - order of summation: another order of the terms can give this error, which is beyond the budget
        - out of bounds: an index is beyond the end of an axis
        - duplicate index: an assignment has the same index several times
        - cast: a conversion rounds, truncates or wraps differently
        - alias: a write through a view or another name reached the array in one run only
        - random stream: a draw differs from the draw of the reference
        - axis or shape: the shape differs, or the values belong to another axis
        - error: the line raises
        - bug: none of the others

    why : str
        The reason for the kind.
    text : str
        The values, the shapes or the dtypes.
    """

    file: str
    line: int
    function: str
    source: str
    variable: str
    kind: Kind
    why: str
    text: str

    def __str__(self) -> str:
        variable = self.variable.replace("return", "the result", 1)
        return (
            f"first at {self.file}:{self.line}, in {self.function}\n"
            f"    {self.source}\n"
            f"    {variable}: {self.text}\n"
            f"    kind: {self.kind} ({self.why})"
        )


class Outcome(Record):
    """How one run compares with the reference.

    Attributes
    ----------
    run : str
        The library and the way to run, such as ``"jax:jit"``.
    status : str
        "same", "different" or "raised"; "not run" if a compiler, arrays without values, or a library with only the
        standard cannot run the function, or if the run takes too long; "unsupported" if the library declares a gap. The
        last two are not failures.
    what : str
        What differs, or why it did not run; empty if the results are the same.
    divergence : Divergence or None
        The first line that differs, if a replay found one.
    seconds : float
        The time of the call, with compilation.
    transfers, waits, computes : int
        As `xarrayops.profile` counts them.
    compilations : int
        How often the library compiled something during the call: a program of XLA, also for a single function of JAX,
        or a graph of `torch.compile`. What the process had compiled before is not compiled again.
    has_values : bool
        Whether values were compared; False for arrays that have shapes and dtypes only.
    """

    run: str
    status: Status
    what: str = ""
    divergence: Divergence | None = None
    seconds: float = 0.0
    transfers: int = 0
    waits: int = 0
    computes: int = 0
    compilations: int = 0
    has_values: bool = True


class Report(Record):
    """The result of `verify`. ``str()`` is a table, and the first line of each difference.

    Attributes
    ----------
    function : str
        The name of the port.
    outcomes : tuple of Outcome
        One for each way to run.
    notes : tuple of str
        What limits the comparison.
    """

    function: str
    outcomes: tuple[Outcome, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether a run has the values of the reference, and none differs or raised."""
        return not self.failures and any(each.status == "same" and each.has_values for each in self.outcomes)

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The runs that differ or raised."""
        return tuple(each for each in self.outcomes if each.status in ("different", "raised"))

    def raise_if_different(self) -> None:
        """Raise an AssertionError with the report unless it is ``ok``."""
        if not self.ok:
            raise AssertionError(f"\n{self}")

    def as_dict(self) -> dict[str, Any]:
        """The report as data."""
        found = [
            each._asdict() | {"divergence": None if each.divergence is None else each.divergence._asdict()}
            for each in self.outcomes
        ]
        return {"function": self.function, "ok": self.ok, "outcomes": found, "notes": list(self.notes)}

    def __str__(self) -> str:
        lines = [_COLUMNS, *map(_cells, self.outcomes)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(_COLUMNS))]
        failed = ", ".join(each.run for each in self.failures)
        verdict = "is the reference within rounding" if self.ok else "was not compared on any library"
        verdict = f"differs from the reference on {failed}" if failed else verdict
        text = [f"{self.function} {verdict}", ""]
        text += ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        for each in self.failures:
            if each.divergence is not None:
                text += ["", f"{each.run}: {each.divergence}"]
        return "\n".join([*text, *(f"Note: {note}" for note in self.notes)])


def _cells(outcome: Outcome) -> tuple[str, ...]:
    numbers = (outcome.transfers, outcome.waits, outcome.computes, outcome.compilations)
    seconds = f"{outcome.seconds:.3f}" if outcome.seconds else ""
    return outcome.run, outcome.status, seconds, *(str(each or "") for each in numbers), outcome.what
