"""The page of rules has every rule, and the bytes that explain states and that its text names."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import xarrayops as xo
from xarrayops.plugin.costs import RULES
from xarrayops.plugin.sharding import Cost

pytest.importorskip("jax")
da = pytest.importorskip("dask.array")
EXTENSION = Path(__file__).resolve().parents[2] / "docs" / "_extensions" / "sharding_rules.py"


SERVED_IN_SHARDS = {
    *("linalg.qr", "linalg.svd", "linalg.svdvals", "linalg.pinv", "linalg.lstsq", "bincount", "histogram", "sort"),
    *("argsort", "topk", "median", "nanmedian", "quantile", "nanquantile", "percentile", "nanpercentile"),
}


@pytest.fixture(scope="module")
def rules():
    spec = importlib.util.spec_from_file_location("docs_sharding_rules", EXTENSION)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cells(page, library):
    """The rows of the table of a library: the functions, and the other cells."""
    text = page.partition(f"{library}\n---")[2].partition("\n\n\n")[0]
    found = re.findall(r"^   \* -(.*)\n((?:     -.*\n?)+)", text.partition("JAX\n---")[0], re.MULTILINE)
    assert len(found) > 10
    return [
        (re.findall(r"``([\w.]+)``", names), re.findall(r"^     - ?(.*)$", rest, re.MULTILINE)) for names, rest in found
    ]


@pytest.mark.parametrize("library", ["Dask", "JAX"])
def test_every_rule_is_on_the_page(rules, library):
    shown = {name for names, _ in cells(rules.page(), library) for name in names}
    assert RULES.keys() - shown == {"Dask": set(), "JAX": SERVED_IN_SHARDS}[library]
    assert ("var" in shown) is (library == "Dask"), "a function with a rule of its own"


def row(page, library, name, along=""):
    (found,) = [rest for names, rest in cells(page, library) if name in names and rest[0] == along]
    return found[1:]


def test_bytes_by_hand(rules):
    """Of 2 000 000 rows of 64 numbers of 8 bytes in chunks of 10.24 MB, or on 8 devices with 128 MB."""
    page = rules.page()
    assert row(page, "Dask", "abs") == ["(rows, None)", "0 bytes", "20.5 MB"]
    assert row(page, "JAX", "abs") == ["(rows, None)", "0 bytes", "256 MB"]
    assert row(page, "JAX", "sum", "the split axis")[:2] == ["replicated", "512 bytes"]  # 64 numbers
    assert row(page, "Dask", "sort", "the split axis") == ["(rows, None)", "41.0 MB", "41.0 MB"]  # 4 chunks
    assert row(page, "JAX", "partition", "the split axis") == ["replicated", "1.0 GB", "2.0 GB"]
    assert row(page, "Dask", "linalg.svd") == ["(rows, None)", "3.3 MB", "40.6 MB"]  # 3 chunks, 3 x 100 factors
    assert "``sort``" in page.partition("On a mesh ")[2]
    assert row(page, "Dask", "bincount")[1] == "depends on values"


@pytest.mark.parametrize("verb", ["sort", "mean", "median", "fft.fft"])
def test_explain_states_the_bytes_of_the_page(rules, verb):
    x = da.zeros(rules.SHAPE, chunks=(20_000, 64))
    (candidate,) = xo.explain(verb, x, axis=0).candidates
    (cost,) = [
        cost for along, cost in rules.costs("dask", verb, rules.rule_of("dask", verb)) if along == "the split axis"
    ]
    assert (candidate.moves, candidate.holds) == (cost.moves, cost.holds)


def test_a_new_rule_is_on_the_page(rules, monkeypatch):
    monkeypatch.setitem(RULES, "cumulative_sum", lambda given: Cost(123, 4567, "(rows, None)"))
    assert row(rules.page(), "JAX", "cumulative_sum", "the split axis") == ["(rows, None)", "123 bytes", "4.6 kB"]
