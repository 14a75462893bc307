"""A plugin of pytest for packages that take arrays of any library.

A package opts in in its ``conftest.py``::

    pytest_plugins = ["xarrayops.testing.pytest_plugin"]

A test with the argument ``xp`` then runs for each variant whose library is installed: ``numpy``, ``numpy-readonly``
(new arrays and arguments cannot be written), ``array_api_strict``, ``torch``, ``jax``, ``jax-jit``, ``dask``,
``dask-lazy`` (computation raises) and ``cupy``. ``xp`` is the namespace. ``xp_call(function, *args, **kwargs)`` calls
the tested function as the variant does: under `jax.jit` (arrays are traced, and all other arguments are constants),
with Dask's computation forbidden, or on read-only arrays, after a call on copies that must not change::

    def test_standardise(xp, xp_call):
        x = xp.asarray([1.0, 3.0])
        assert_close(xp_call(standardise, x), xp.asarray([-1.0, 1.0]))

Marks skip variants, or expect that the test fails; a test that passes nevertheless is a failure::

    @pytest.mark.xp_skip("torch", reason="no such dtype")
    @pytest.mark.xp_xfail(lacks="in-place", reason="writes to its argument")

Names are those of variants or libraries, and ``reason`` is required; ``lacks`` is one of ``in-place``, ``values``,
``data-dependent shapes`` and ``boolean indexing``, or a list of them. Other names are errors. ``--xp numpy,torch``
selects variants or libraries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from xarrayops.testing._library import variants

_MARKS = {"xp_skip": "skip", "xp_xfail": "xfail"}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option ``--xp``."""
    parser.addoption("--xp", default="", help="variants of the fixture xp, separated by commas; default: all installed")


def pytest_configure(config: pytest.Config) -> None:
    """The marks."""
    for name in _MARKS:
        description = f"{name}(*names, lacks=(), reason): {_MARKS[name]} for these variants or libraries"
        config.addinivalue_line("markers", description)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each variant, with the marks that apply to it."""
    if "xp" not in metafunc.fixturenames and "xp_call" not in metafunc.fixturenames:
        return
    wanted = [name for name in metafunc.config.getoption("--xp").split(",") if name]
    _check(wanted, "--xp")
    names = [v for v in variants.VARIANTS if variants.is_installed(v)]
    chosen = [v for v in names if not wanted or v in wanted or variants.library(v) in wanted]
    marks = [mark for mark in metafunc.definition.iter_markers() if mark.name in _MARKS]
    params = [pytest.param(v, id=v, marks=[_mark(each) for each in marks if _applies(each, v)]) for v in chosen]
    metafunc.parametrize("_xp_variant", params, indirect=True)


def _check(names: Any, where: str) -> None:
    known = {*variants.VARIANTS, *map(variants.library, variants.VARIANTS)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise pytest.UsageError(f"{where}: no variant {', '.join(unknown)}; there are {', '.join(variants.VARIANTS)}")


def _applies(mark: pytest.Mark, variant: str) -> bool:
    _check(mark.args, mark.name)
    lacks = mark.kwargs.get("lacks", ())
    lacks = (lacks,) if isinstance(lacks, str) else tuple(lacks)
    for each in lacks:
        if each not in variants.LACKS:
            raise pytest.UsageError(f"{mark.name}: no capability {each!r}; there are {', '.join(variants.LACKS)}")
    if "reason" not in mark.kwargs:
        raise pytest.UsageError(f"{mark.name} needs reason=")
    named = variant in mark.args or variants.library(variant) in mark.args
    return named or any(variant in variants.LACKS[each] for each in lacks)


def _mark(mark: pytest.Mark) -> pytest.MarkDecorator:
    reason = mark.kwargs["reason"]
    return pytest.mark.skip(reason=reason) if mark.name == "xp_skip" else pytest.mark.xfail(reason=reason, strict=True)


@pytest.fixture
def _xp_variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def xp(_xp_variant: str) -> ModuleType:
    """The namespace of a variant."""
    return variants.namespace(_xp_variant)


@pytest.fixture
def xp_call(_xp_variant: str) -> Callable[..., Any]:
    """A function that calls another as the variant does."""
    return partial(variants.call, _xp_variant)
