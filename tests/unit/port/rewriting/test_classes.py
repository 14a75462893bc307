"""Elements that are views on PyTorch, annotations, and tests of classes."""

import typing

import numpy as np

from xarrayops.port import rewrite

V = np.asarray([3.0, 1.0, 2.0])
START = "import functools\nfrom typing import Dict, List, Optional\nimport numpy as np\n"


def test_an_element_that_is_used_after_a_write_gets_a_note(checked):
    source = (
        "def f(x):\n    y = np.zeros(3)\n    y[:] = x.T\n    k = y[1]\n    y[1] = y[0]\n    y[0] = k\n    return y\n"
    )
    checked(START + source, V, todo="Write k = np.copy(y[1])", runs=("numpy", "jax"))


def test_a_sum_of_elements_is_a_new_number(checked):
    source = (
        "def f(x):\n    y = np.zeros(3)\n    y[:] = x.T\n    s, out = y[0], []\n    for v in (1.0, 2.0):\n"
        "        s += v\n        out.append(s)\n    return y, out\n"
    )
    checked(START + source, V, has="s = s + v")


def test_annotations_can_be_evaluated(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        START + "def f(a: List[np.float64], b: Optional[np.ndarray] = None) -> Dict[str, np.dtype]: return np.sqrt(a)"
    )
    space = {}
    exec(rewrite(path).text, space)
    found = typing.get_type_hints(space["f"])
    assert typing.get_args(found["a"]) == (np.float64,)
    assert typing.get_args(found["return"]) == (str, np.dtype)
    assert isinstance(V, typing.get_args(found["b"])[0])


def test_classes_of_dtypes_are_numpys(checked):
    source = "def f(x):\n    return x.T if isinstance(x.dtype, np.dtype) else None\n"
    checked(START + source, V, todo="dtypes of other libraries", has="numpy.dtype", runs=("numpy", "jax"))


def test_classes_that_are_compared_are_numpys(checked):
    source = "def f(x):\n    return x.T * 2 if type(x) in (list, np.ndarray) else None\n"
    checked(START + source, V, todo="isinstance(x, np.ndarray)", has="numpy.ndarray", runs=("numpy",))


def test_dispatch_by_class_is_numpys(checked):
    source = (
        "@functools.singledispatch\ndef g(x):\n    return None\n"
        "@g.register(np.ndarray)\ndef _(x):\n    return x.T * 2\n"
        "def f(x):\n    return g(x)\n"
    )
    checked(START + source, V, todo="register the array classes", has="g.register(numpy.ndarray)", runs=("numpy",))


def test_type_is_ndarray_means_every_array(checked):
    source = "def f(x):\n    if type(x) is np.ndarray:\n        return np.sin(x)\n    return None\n"
    checked(START + source, V, has="isinstance(x, np.ndarray)")


def test_dtypes_of_what_may_be_an_array_have_numpys_attributes(checked):
    source = "LIMITS = {np.float64: 2.0}\ndef f(x):\n    kind = x.dtype\n"
    source += "    return LIMITS[x.dtype.type] * LIMITS[kind.type]\n"
    checked(START + source, V, has="np.dtype(x.dtype).type] * LIMITS[np.dtype(kind).type]")


def test_texts_that_are_no_dtypes_are_of_data_frames(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(START + "def f(data):\n    return data.sex.astype('category'), np.sin(data.x)\n")
    assert "data.sex.astype('category')" in rewrite(path).text
