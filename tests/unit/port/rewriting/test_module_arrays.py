"""Arrays of the module move to the library of the caller's arrays."""

import numpy as np
import pytest

X = np.arange(1.0, 5.0).reshape(2, 2)
START = "import numpy as np\nC = np.array([[1.0, 2.0], [3.0, 4.0]])\nT = np.asarray([0.5, 1.5, 9.0])\n"
BODIES = [
    "return C @ x, x.T + C[0], np.stack([C, x]), np.where(x > 1, C, 0.0)",
    "i = np.searchsorted(T, x.T)\n    return T[i] * x.T, T[i + 0]",
    "k = np.sqrt(C)\n    y = x.T @ k\n    y += C\n    return y",
]


@pytest.mark.parametrize("body", BODIES)
def test_it_moves(body, checked):
    checked(f"{START}def f(x):\n    {body}\n", X, has="like=x)")


def test_helpers_get_it_in_the_library_of_the_other_argument(checked):
    helper = "def apply(a, b):\n    return np.inner(b, a)\n"
    checked(
        f"{START}{helper}def f(x):\n    y = x.T\n    return apply(C, y)\n", X, has="apply(np.asarray(C, like=y), y)"
    )


def test_what_may_be_a_number_gets_a_note(checked):
    source = f"{START}def f(scale):\n    return C * scale\n"
    todo = "scale may be an array of another one. Instead: np.asarray(C, like=scale)"
    checked(source, 2.0, todo=todo, lacks="(C, like=scale) *")
