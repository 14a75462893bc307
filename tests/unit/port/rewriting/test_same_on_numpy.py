"""Kinds of expressions that an edit must not change on NumPy, or that must differ nowhere."""

import numpy as np
import pytest

from xarrayops.port import rewrite

X = np.arange(6.0).reshape(2, 3)
FLOAT32 = np.arange(4, dtype="float32")


@pytest.mark.parametrize(
    "index",
    [
        "next(it)",
        "next(it), 1:",
        "[next(it), 0]",
        "(k := next(it))",
        "[each(it) for _ in range(2)]",
        "min(each(it), 1)",
    ],
)
@pytest.mark.parametrize("value", ["= 1", "= np.ones(1)[0] * 0.1"])
def test_an_index_is_evaluated_once(checked, index, value):
    """Of ``x[i] += v`` the index stands twice in the new statement."""
    source = (
        "import numpy as np\ndef each(it):\n    return next(it)\ndef f(x, numbers):\n"
        f"    y = np.copy(np.asarray(x, dtype='float32'))\n    it = iter(numbers)\n    y[{index}] +{value}\n"
        "    return y\n"
    )
    checked(source, X, [1, 0, 1, 1])


@pytest.mark.parametrize("index", ["len(x) - 1", "np.argmax(x[:, 0]), 0", "int(2.5 // 2)"])
def test_an_index_without_effects_stands_twice(checked, index):
    source = (
        f"import numpy as np\ndef f(x):\n    y = np.asarray(x) * 2\n    y[{index}] += np.ones(1)[0]\n    return y\n"
    )
    checked(source, X, lacks=":=")


def test_advice_evaluates_an_index_once(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\ndef f(x: np.ndarray, it):\n    x[next(it)] += 1\n    return 0\n")
    (todo,) = rewrite(path).todos
    assert "x = xo.at(x)[(index1 := next(it))].assign(x[index1] + 1)" in todo.problem


@pytest.mark.parametrize(
    "call", ["x.reshape(*[3, -1])", "x.reshape(1, *x.shape)", "x.transpose(*axes)", "x.reshape(*(2,), 3, order='C')"]
)
def test_starred_shapes(checked, call):
    checked(f"import numpy as np\ndef f(x: np.ndarray):\n    axes = (1, 0)\n    return {call}\n", X)


def test_a_starred_shape_that_may_be_a_tuple(checked):
    source = "import numpy as np\ndef f(x: np.ndarray, shape):\n    return x.reshape(*shape)\n"
    checked(source, X, ((3, 2),), todo="np.reshape(x, (*shape,))")
    checked(source, X, (3, 2), todo="np.reshape(x, (*shape,))")


@pytest.mark.parametrize(
    "text",
    ['f"{x.size=}"', 'f"{ x.size = } {x.ndim=}"', 'f"{x.mean()=:.3f} {{{x.size=!s}}}"', "f'{x.std(axis=None)=:.{n}f}'"],
)
def test_f_strings_keep_the_text_of_expressions(checked, text):
    checked(f"import numpy as np\ndef f(x: np.ndarray, n):\n    return {text}\n", X, 3)


@pytest.mark.parametrize(
    "body",
    [
        "T = {np.dtype('float64'): 'd', np.dtype('float32'): 'f'}\ndef f(x: np.ndarray):\n    return T[x.dtype]",
        "T = {np.dtype('float64')}\ndef f(x: np.ndarray):\n    return x.dtype in T, x.dtype not in T",
        "T = {np.dtype('int8'): 1}\ndef f(x: np.ndarray):\n    t = x.dtype\n    return T.get(t, 2), T.get(x.dtype)",
    ],
)
def test_dtypes_as_keys(checked, body):
    checked(f"import numpy as np\n{body}\n", X, has="np.dtype(")


@pytest.mark.parametrize(
    "body",
    [
        "class C: pass\nC.sizes = {np.dtype('float64'): 8}",
        "def f(x: np.ndarray):\n    t = {x.dtype: 1}\n    return t[np.dtype('float64')]",
        "def f(t):\n    return t.get(np.dtype('float64'))",
        "def f(x: np.ndarray, t):\n    return np.dtype('float64') in t",
    ],
)
def test_dtypes_as_keys_of_what_is_not_followed(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{body}\n")
    assert "np.dtype(x.dtype) as key and to look up" in rewrite(path).todos[0].problem


@pytest.mark.parametrize("body", ["return np.dtype(t) in (np.float32, np.float64)", "return np.dtype(t) in KINDS"])
def test_tuples_compare_dtypes(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\nKINDS = [np.float32, np.float64]\ndef f(t):\n    {body}\n")
    assert not rewrite(path).todos


@pytest.mark.parametrize(
    "imported", ["from numpy import float64, dtype", "from numpy import float64 as float64, dtype"]
)
def test_annotations_of_imported_names_are_classes(tmp_path, imported):
    path = tmp_path / "program.py"
    path.write_text(
        f"{imported}\nfrom typing import get_type_hints\ndef g(x: float64) -> dtype: return x\n"
        "def f():\n    return [isinstance(each, type) for each in get_type_hints(g).values()]\n"
    )
    namespace = {}
    exec(rewrite(path).text, namespace)
    assert namespace["f"]() == [True, True]


def test_masked_arrays_keep_their_masks(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\ndef f(x):\n    return x[1:, None].copy().mask.tolist(), np.ma.count(x)\n")
    new = rewrite(path)
    namespace = {}
    exec(new.text, namespace)
    assert namespace["f"](np.ma.array([1.0, 2, 3], mask=[0, 0, 1])) == ([[False], [True]], 2)
    assert any("np.copy(" in todo.problem for todo in new.todos)


@pytest.mark.parametrize(
    "body",
    [
        "return x * (np.arange(n) / 100.0)",
        "t = np.arange(4) * 0.5\n    return x + t",
        "return np.ones(4, 'int64', like=x) / 2 + x",
        "return x * np.float64(0.1)",
        "return [1, 2, 3, 4] * x",
    ],
)
def test_operators_have_the_dtype_of_numpy(checked, body):
    checked(f"import numpy as np\ndef f(x: np.ndarray, n):\n    x = np.astype(x, 'float32')\n    {body}\n", FLOAT32, 4)


@pytest.mark.parametrize("function", ["eig", "eigvals"])
def test_eigenvalues_have_a_note(tmp_path, function):
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\ndef f(x: np.ndarray):\n    return np.linalg.{function}(x)\n")
    assert "complex numbers on Dask" in rewrite(path).todos[0].problem
