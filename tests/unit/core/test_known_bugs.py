"""What users learn of known bugs: of those that affect the loaded version and that nothing avoids."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

import numpy as np
import pytest

from xarrayops._core.backends import known_bugs, registry
from xarrayops._core.backends.backend import Backend
from xarrayops.errors import BackendNotFound
from xarrayops.plugin import KnownBad

OPEN = KnownBad("sums", ">=2,<3", "cpu", "sums are wrong", "sums#1", advice="install sums 3")
CURED = OPEN._replace(condition="products are wrong", cured=lambda: True)
AVOIDED = KnownBad("sums", "<3", "any", "sorting aborts", "sums#2")
OTHER = OPEN._replace(versions="<2")


def module(faults, version="2.1+cpu"):
    found = ModuleType("backend_under_test")
    vars(found).update(NAMESPACE=np, ARRAY_TYPES=(np.ndarray,), versions=lambda: {"sums": version}, KNOWN_BAD=faults)
    return found


@pytest.fixture(autouse=True)
def library(monkeypatch):
    found = ModuleType("sums")
    found.__version__ = "2.1+cpu"
    monkeypatch.setitem(sys.modules, "sums", found)


def test_texts_say_what_to_do():
    assert known_bugs.texts([OPEN, CURED, AVOIDED, OTHER], {"sums": "2.1"}) == [
        "sums 2.1, device cpu: sums are wrong (sums#1). Instead: install sums 3",
        "sums 2.1, device any: sorting aborts (sums#2). xarrayops avoids it",
    ]


def test_a_warning_has_the_bugs_that_nothing_avoids():
    backend = Backend("under_test", module((OPEN, CURED, AVOIDED, OTHER, OPEN._replace(condition="means too"))))
    with pytest.warns(RuntimeWarning) as found:
        known_bugs.warn(backend)
    assert [str(each.message) for each in found] == [
        "sums 2.1+cpu, device cpu: sums are wrong (sums#1). Instead: install sums 3; "
        "sums 2.1+cpu, device cpu: means too (sums#1). Instead: install sums 3"
    ]


@pytest.mark.parametrize("faults", [(), (CURED,), (AVOIDED, OTHER)])
def test_no_warning(faults):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        known_bugs.warn(Backend("under_test", module(faults)))


def test_the_warning_comes_once_and_may_be_an_error(registry_memory, monkeypatch):
    entry = next(iter(registry.entry_points().values()))
    monkeypatch.setattr(registry, "import_module", lambda name: module((OPEN,)))
    monkeypatch.setattr(registry, "module_of", {"sums": entry.value}.get)
    registry.by_module.pop(entry.value, None)
    with pytest.raises(RuntimeWarning, match="install sums 3"):
        registry.load_named("sums")
    assert registry.load_named("sums").known_bad == (OPEN,)
    with pytest.raises(BackendNotFound):
        registry.load_named("others")
