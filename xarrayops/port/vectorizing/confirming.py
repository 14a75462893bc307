"""A call of the program decides on offered edits: what they ask must be true, and the result must stay the same."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, redirect_stdout
from pathlib import Path
from types import FrameType
from typing import Any

import numpy

from xarrayops._system.hooks import hooked
from xarrayops.port.basics import PortError
from xarrayops.port.loading import arguments_of, calls_of, function_of, loaded, parsed_call
from xarrayops.port.rewriting.lines import changed
from xarrayops.port.source import Program
from xarrayops.port.vectorizing.offers import Offer, Refused, changes
from xarrayops.testing import verify


def confirmed(program: Program, offers: Sequence[Offer], call: str) -> tuple[list[Offer], list[Refused]]:
    """The offers that a call confirms or that are proved, and the others with the reason.

    Raises
    ------
    PortError
        The text is not a call, or the program or the call raises.
    """
    try:
        return _confirmed(program, offers, parsed_call(call))
    except PortError:
        raise
    except (Exception, SystemExit) as error:  # the files of users may raise anything
        raise PortError(f"{program.source.path}: --call: {type(error).__name__}: {error}") from None


def _confirmed(program: Program, offers: Sequence[Offer], call: ast.Call) -> tuple[list[Offer], list[Refused]]:
    path = Path(program.source.path)
    with ExitStack() as modules, redirect_stdout(sys.stderr):
        original = loaded(path, "original", modules)
        several = [arguments_of(each, {"np": numpy, **vars(original)}) for each in calls_of(call)]
        args, keywords = several[0] if len(several) == 1 else (tuple(several), {})
        expected = function_of(original, path, call)
        answers = _Answers(str(path.resolve()), offers)
        given, options = copy.deepcopy((args, keywords))
        with hooked(answers.enter):
            expected(*given, **options)
        kept = [each for each in offers if answers.reason(each) is None]
        refused = [Refused(each.line, reason) for each in offers if (reason := answers.reason(each)) is not None]

        def problem(some: Iterable[Offer]) -> str | None:
            """Why the program with some of the edits does not give the same; None if it does."""
            text = "\n".join(changed(program.source.lines, changes(program, some))[0])
            with ExitStack() as inner:
                function = function_of(loaded(path, "vectorized", inner, text), path, call)
                report = verify(
                    function, *args, expected=expected, keywords=keywords, libraries=["numpy"], replay=False
                )
            return (
                None if report.ok else next((each.what for each in report.outcomes if each.what), "nothing to compare")
            )

        return (kept, refused) if not kept or problem(kept) is None else _without(kept, refused, problem)


def _without(
    offers: list[Offer], refused: list[Refused], problem: Callable[[Iterable[Offer]], str | None]
) -> tuple[list[Offer], list[Refused]]:
    """The offers that give the same result together with those before them."""
    kept: list[Offer] = []
    for each in offers:
        reason = problem([*kept, each])
        if reason is None:
            kept.append(each)
        else:
            refused.append(Refused(each.line, f"the result of the call differs: {reason}"))
    return kept, refused


class _Answers:
    """What a call shows of the questions of offers."""

    def __init__(self, path: str, offers: Iterable[Offer]) -> None:
        self._path = path
        self._offers = {each.line: each for each in offers if each.asks}
        self._wrong: dict[int, str | None] = {}
        """For each line that ran, the question that was answered by no."""

    def reason(self, offer: Offer) -> str | None:
        """Why an offer stays; None if it is proved or confirmed."""
        if not offer.asks:
            return None
        if offer.line not in self._wrong:
            return "the call does not reach it"
        wrong = self._wrong[offer.line]
        return None if wrong is None else f"not true in the call: {wrong}"

    def enter(self, frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        """Ask at the lines of the offers in a function of the file."""
        if frame.f_code.co_filename != self._path:
            return None
        previous = 0

        def line(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
            nonlocal previous
            offer = self._offers.get(frame.f_lineno)
            if event == "line" and offer is not None and not offer.line <= previous <= offer.last:
                self._ask(offer, frame)
            previous = frame.f_lineno
            return line

        return line

    def _ask(self, offer: Offer, frame: FrameType) -> None:
        for question in offer.asks if self._wrong.get(offer.line) is None else ():
            try:
                answer = bool(eval(question, frame.f_globals, frame.f_locals))
            except Exception:  # a variable that has no value yet
                answer = False
            if not answer:
                self._wrong[offer.line] = question
                return
        self._wrong.setdefault(offer.line, None)
