"""Arrays that a module makes when it is loaded, combined with arrays of the caller."""

import pytest

from xarrayops.port.checking import findings
from xarrayops.port.source import Program
from xarrayops.port.source.files import parsed

START = """import numpy as np
C = np.array([[1.0, 2.0], [3.0, 4.0]])
T = np.linspace(0.0, 1.0, 5)
N = 3
def apply(a, b):
    return a @ b
"""


def meetings(body):
    text = START + "def f(x, n=2):\n    rows = x.shape[0]\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    found = Program(parsed("program.py", text)).meetings
    return [(meeting.node.id, meeting.partner, meeting.certain) for meeting in found]


MEETS = {
    "return C @ x": [("C", "x", True)],
    "return x + C[0]": [("C", "x", True)],
    "return x[:, 0] > C.T[0].max()": [],
    "return np.where(x > 0, C, 0)": [("C", "x", True)],
    "return np.stack([C, x])": [("C", "x", True)],
    "return np.dot(-C, x)": [("C", "x", True)],
    "return C.dot(x)": [("C", "x", True)],
    "return apply(2 * C, x)": [("C", "x", True)],
    "i = np.searchsorted(T, x)\nreturn T[i]": [("T", "x", True), ("T", "i", True)],
    "y = np.sqrt(x)\ny *= C\nreturn y": [("C", "y", True)],
    "k = 2 * C\nreturn k * x": [("k", "x", True)],
    "y = np.zeros(n)\nreturn x, C + N, C @ C, T * y, T[n:], C[0, n] * n": [],
    "return x, np.asarray(C, like=x) + x": [],
    "return x * N, x.reshape(C.shape), np.zeros_like(C), rows * C": [],
    "C = np.sqrt(x)\nreturn C + x": [],
    "x[0] = 1\nreturn [C, T]": [],
}


@pytest.mark.parametrize("body", MEETS)
def test_operands_of_the_module_and_of_the_caller(body):
    assert meetings(body) == MEETS[body]


def test_a_partner_that_may_be_a_number_is_a_guess():
    text = f"{START}def f(scale):\n    return C * scale\n"
    program = Program(parsed("program.py", text))
    assert [(meeting.partner, meeting.certain) for meeting in program.meetings] == [("scale", False)]
    found = [finding for finding in findings(program) if finding.kind == "creation"]
    assert [(finding.certain, finding.instead) for finding in found] == [(False, "np.asarray(C, like=scale)")]
