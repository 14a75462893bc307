"""Assignments to elements and augmented assignments: a new array where nothing else refers to the old one."""

import numpy as np
import pytest

X = np.arange(12.0).reshape(3, 4)
V = np.asarray([3.0, -1.0, 2.0, 0.5])
K = np.asarray([3, 0, 2, 2, 1])

OWNED = {
    "elements in a loop": (
        """
import numpy as np

def f(x):
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        y[i] = x[i].sum() * i  # the row
    return y
""",
        [X],
    ),
    "slices with strides and new axes": (
        """
import numpy as np
def f(x):
    y = np.zeros((3, 4), like=x)
    y[::2, 1:] = x[::2, :-1]
    y[..., 0] = -1
    y[1, None] = x[2]
    return y
""",
        [X],
    ),
    "augmented elements": (
        """
import numpy as np
def f(x):
    y = x.copy()
    y[0] += 1
    y[1, 1:] -= x[0, 1:]
    y[:, 2] *= 3
    y[2] /= 4
    y[0, 1] **= 2
    y[1] //= 2
    y[2] %= 0.3
    return y
""",
        [X],
    ),
    "twice the same index": (
        """
import numpy as np
def f(x, k):
    y = np.zeros(4, like=x)
    y[k] += 1
    np.add.at(y, k, 10)
    return y
""",
        [V, K],
    ),
    "a mask and a number": (
        """
import numpy as np
def f(x):
    y = x + 0.0
    y[y > 5] = 0
    y[y < 1] = -1.5
    return y
""",
        [X],
    ),
    "a mask and values": (
        """
import numpy as np
def f(x):
    y = np.zeros_like(x)
    m = x > 5
    y[m] = np.sqrt(x[m])
    y[~m] = 1
    return y
""",
        [X],
        {"todo": "jax.jit does not take a selection by a mask"},
    ),
    "the mask of a mean is where": (
        """
import numpy as np
def f(x):
    s = np.std(x.astype(np.float64), axis=0)
    s[s <= 0.1] = 1.0
    return x / s
""",
        [X],
    ),
    "several targets": (
        """
import numpy as np
def f(x):
    n = x.shape[1]
    c = np.eye(n, dtype=x.dtype)
    for i in range(n - 1):
        c[i + 1:, i] = c[i, i + 1:] = x[:, i] @ x[:, i + 1:]
    return c
""",
        [X],
    ),
    "several lines": (
        """
import numpy as np
def f(x):
    y = np.empty_like(x)
    y[:,
      0] = (x[:, 1] +  # the second
            x[:, 2])
    y[:, 1:] = x[:, 1:] \\
        * 2
    return y
""",
        [X],
        {"has": "# the second"},
    ),
    "rows of views that are read only": (
        """
import numpy as np
def f(x):
    y = x * 2
    for row in range(x.shape[0]):
        old = y[row]
        new = old - old.mean()
        y[row] = new
    return y
""",
        [X],
    ),
    "the old array of a sweep": (
        """
import numpy as np
def f(x, n):
    for _ in range(n):
        old = x
        x = 0.5 * (x + x[:, ::-1])
        x[0] = 1.0
        if np.max(np.abs(x - old)) < 1e-3:
            break
    return x, old
""",
        [X, 4],
    ),
    "a view that is not read again": (
        """
import numpy as np
def f(x):
    y = x[:, :].copy()
    first = y[0]
    total = first.sum()
    y[0] = total
    first = y[1]
    return y, first + 1
""",
        [X],
    ),
    "a function of this program makes the array": (
        """
import numpy as np
def grid(n, x):
    made = np.zeros((n, n), like=x)
    made[0] = 1
    return made
def f(x):
    y = grid(4, x)
    y[1:, 0] = x[:, 0]
    return y
""",
        [X],
    ),
    "a function of this program reads the array": (
        """
import numpy as np
def total(a):
    return np.sum(a[1:])
def f(x):
    y = x[:, 1:].copy()
    y[0] = total(y)
    y[1] = total(y)
    return y
""",
        [X],
    ),
    "a part of a new array": (
        """
import numpy as np
def f(x):
    y = np.zeros_like(x)[1:, 1:]
    for i in range(2):
        y[i:, :] += x[1 + i:, 1:]
    return y
""",
        [X],
    ),
    "the dtype of a sum stays": (
        """
import numpy as np
def f(x, v):
    y = np.zeros(4, dtype=np.float32, like=x)
    y += v
    y *= 2
    z = np.zeros_like(x)
    z += v
    return y, z
""",
        [X.astype(np.float32), V],
    ),
    "numbers that are summed": (
        """
import numpy as np
def f(x):
    total, count = 0.0, 0
    for i in range(x.shape[0]):
        total += np.tanh(x[i, i])
        count += 1
    return x + total / count
""",
        [X],
    ),
    "an integer array": (
        """
import numpy as np
def f(x):
    n = np.zeros(x.shape, dtype=np.int64, like=x)
    for i in range(5):
        n[x > i] = i
    n[0, 0] += 7
    n <<= 1
    return n
""",
        [X],
    ),
    "a list as the value": (
        """
import numpy as np
def f(x):
    y = np.zeros_like(x)
    y[0] = [1, 2, 3, 4]
    y[1:] = [[5.0] * 4]
    return y
""",
        [X],
    ),
    "lists and dicts are not arrays": (
        """
import numpy as np
def f(x):
    rows = [None] * 3
    named = {}
    for i in range(3):
        rows[i] = x[i] * 2
        named["row"] = rows[i]
    return rows, named["row"]
""",
        [X],
    ),
    "results that a list keeps": (
        """
import numpy as np
def f(x):
    found = []
    for i in range(3):
        y = np.zeros(4, like=x)
        y[i] = x[i, i]
        found.append(y)
    return np.stack(found)
""",
        [X],
    ),
    "while and continue": (
        """
import numpy as np
def f(x):
    y = x.copy()
    i = 0
    while i < x.shape[0]:
        i += 1
        if i == 2:
            continue
        y[i - 1] = y[i - 1] ** 2
    else:
        y[:, 0] = 0
    return y
""",
        [X],
    ),
    "try and finally": (
        """
import numpy as np
def f(x):
    y = np.ones_like(x)
    try:
        y[0] = x[0]
        int("a")
    except ValueError:
        y[1] = x[1]
    finally:
        y[2] = 0
    return y
""",
        [X],
    ),
    "one line": (
        """
import numpy as np
def f(x):
    y = np.zeros_like(x); y[0] = 1; y[1] += 2
    if x.ndim == 2: y[2] = 3
    return y
""",
        [X],
    ),
    "a program without functions": (
        """
import numpy as np
y = np.zeros(4)
y[1:3] = 2
def f(x):
    return x * 2
""",
        [X],
        {"has": "xo.at(y)[1:3].set(2, copy=None)"},
    ),
}


@pytest.mark.parametrize("name", OWNED)
def test_arrays_of_the_function(name, checked):
    source, args, *expected = OWNED[name]
    checked(source, *args, **(expected[0] if expected else {}))
