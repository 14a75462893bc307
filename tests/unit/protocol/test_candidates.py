"""Candidates refuse calls that are known to fail; the last candidate of a hook is the generic function."""

from types import ModuleType

import numpy as np
import pytest
from packaging.specifiers import SpecifierSet

from xarrayops import Unsupported
from xarrayops._core.backends.backend import Backend
from xarrayops.plugin import KnownBad, candidates
from xarrayops.plugin.candidates import Call, NotServed, affected, always, first_able, refusal, screened

FAULT = KnownBad("lib", ">=2,<3", "any", "wrong for 3", "lib#7", kernel="fast", when=lambda call: call.args[0] == 3)


@pytest.mark.parametrize(
    ("installed", "hit"), [("2.5", True), ("1.9", False), ("3.0", False), ("2.9.1+cpu", True), ("?", False)]
)
def test_versions_in_range(installed, hit):
    assert affected([FAULT], {"lib": installed}) == ([FAULT] if hit else [])
    assert affected([FAULT], {"other": installed}) == []


SPECIFIERS = ("<14", "<14.1", "<=13.0.0", "<=2.13.0", "==0.10.2", ">=0.11.0.dev0,<0.11.1", ">=2.11", ">=2.9,<2.14")
NUMBERS = (
    "0.10.2",
    "0.11.0",
    "0.11.0.dev20260101",
    "0.11.1rc1",
    "0.11.1",
    "2.9",
    "2.9.0",
    "2.9.0a0",
    "2.10.0rc3",
    "2.11",
)


@pytest.mark.parametrize("specifiers", SPECIFIERS)
@pytest.mark.parametrize(
    "number", [*NUMBERS, "2.13.0+cpu", "2.14.0.dev1", "2.14", "13.0.0", "13.6", "14.0.1", "14.1", "14.1rc1"]
)
def test_specifiers_have_the_meaning_of_packaging(specifiers, number):
    expected = SpecifierSet(specifiers).contains(number, prereleases=True)
    assert candidates.includes(specifiers, number) is expected


def versions(number="2.1"):
    return lambda: {"lib": number}


def test_a_known_fault_refuses_only_the_affected_calls():
    refusal_of = screened(always, [FAULT], versions())
    assert refusal_of(Call((2,), {})) is None
    assert "wrong for 3 (lib#7)" in refusal_of(Call((3,), {}))
    assert screened(always, [FAULT], versions("3.0"))(Call((3,), {})) is None
    assert screened(always, [], versions()) is always


def test_the_reason_of_the_kernel_itself_comes_first():
    refusal_of = screened(lambda call: "too small", [FAULT], versions())
    assert refusal_of(Call((3,), {})) == "too small"


def test_the_first_that_accepts_the_call_serves():
    kernels = [("a", lambda x: "a", lambda call: "never"), ("b", lambda x: "b", always)]
    assert first_able("verb", kernels)(1) == "b"
    with pytest.raises(Unsupported, match=r"verb: a: never"):
        first_able("verb", kernels[:1])(1)


def test_a_kernel_that_fails_when_it_runs_is_skipped(monkeypatch):
    """It is tried once for each kind of call; errors other than `NotServed` are raised."""
    monkeypatch.setattr(candidates, "_failures", {})
    tried = []

    def fails(x):
        tried.append(x.shape)
        if x.shape == (3,):
            raise MemoryError
        raise NotServed("no code")

    kernels = [("a", fails, always), ("b", lambda x: "b", always)]
    choose = first_able("verb", kernels)
    assert [choose(np.zeros(2)) for _ in range(3)] == ["b"] * 3
    assert tried == [(2,)]
    assert refusal(kernels[0], Call((np.ones(2),), {})) == "it failed when it ran: no code"
    assert refusal(kernels[0], Call((np.ones(2, "float32"),), {})) is None
    with pytest.raises(MemoryError):
        choose(np.zeros(3))
    with pytest.raises(Unsupported, match="verb: a: it failed when it ran: no code"):
        first_able("verb", kernels[:1])(np.zeros((2, 2)))


def backend(**attributes):
    module = ModuleType("backend_under_test")
    vars(module).update(NAMESPACE=np, ARRAY_TYPES=(np.ndarray,), versions=lambda: {"lib": "2.1"}, **attributes)
    return Backend("under_test", module)


def test_known_faults_of_a_backend_refuse_calls():
    kernels = [("fast", lambda x: "fast", always), ("slow", lambda x: "slow", always)]
    served = backend(ABS_CANDIDATES=kernels, KNOWN_BAD=(FAULT,)).functions["abs"]
    assert (served(2), served(3)) == ("fast", "slow")


def test_the_generic_function_is_the_last_candidate_of_a_hook():
    """Functions of the standard have no generic function."""
    found = backend(MEMORY_CANDIDATES=[("mine", lambda x: "mine", lambda call: None if call.args[0] else "nothing")])
    assert [name for name, *_ in found.kernels("memory")] == ["mine", "generic"]
    assert found.functions["memory"](1) == "mine"
    assert found.functions["memory"](0) is None, "the generic function's answer"
    assert found.kernels("abs") == []
