"""The HTML report as text: one self-contained file, and safe against hostile names."""

import base64
import hashlib
import json
import math
import re
from dataclasses import asdict
from html.parser import HTMLParser

import pytest

from xarrayops.bench.measure.roofline import MeasuredRooflines
from xarrayops.bench.report import page
from xarrayops.bench.results import Results, Row

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    "@DATA@ @SCRIPT@ @STYLE_HASH@",
    "\u2028 \ud800 \x00 \"'`${alert(1)}",
)


class Elements(HTMLParser):
    """The elements of a page, and the text of its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.inner, self._open = [], {}, ()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs).get("id"))

    def handle_endtag(self, tag):
        self._open = ()

    def handle_data(self, data):
        if self._open and self._open[0] in ("script", "style"):
            self.inner[self._open] = self.inner.get(self._open, "") + data


def row(i, **more):
    median = 1e-5 * (i + 1) / 3
    names = {"workload": f"workload {i // 10}", "backend": f"backend{i % 10}", "device": "cpu", "dtype": "float32"}
    times = {"median_s": median, "low_s": median, "high_s": median, "medians_s": [[median] * 3] * 2}
    return Row(**{**names, "size": 1000, "status": "ok", **times, **more})


def results(n=3, **environment):
    return Results([row(i) for i in range(n)], {"command": "python -m xarrayops.bench", **environment})


def embedded(text):
    return json.loads(Elements(text).inner["script", "data"])


def test_all_of_the_results_are_in_the_page():
    run = results(
        12, resolution=0.03, workloads={"workload 0": {"timed": "f(x)", "code": "def f(x):\n    return x < 1"}}
    )
    data = embedded(page.html(run))
    assert Results([Row(**known) for known in data["rows"]], data["environment"]) == run


def test_derived_data_agree_with_the_other_reports():
    run = results(10, resolution=0.5)
    run.rows[1].status, run.rows[1].median_s, run.rows[1].reason = "timeout", None, "too slow"
    data = embedded(page.html(run))
    assert [each["mark"] for each in data["derived"]] == ["fastest", *[""] * 9]
    assert data["missing"]["lines"] == [["backend1 cpu", "all", "timeout", "too slow", ""]]
    assert data["summary"].startswith("9 of 10 cells measured")


@pytest.mark.parametrize(
    ("kind", "name", "index"), [("cpu", "cpu", 0), ("cpu", "cpu:0", 0), ("cuda", "cuda:1", 1), ("rocm", "cuda:0", 0)]
)
def test_a_cell_refers_to_the_roofline_of_its_device(kind, name, index):
    measured = MeasuredRooflines()
    measured.add((kind, index, "float32"), "torch", {"status": "out-of-memory", "reason": "it is full"})
    (roof,) = measured.described([])
    assert roof["failed"] == {"torch": "out-of-memory: it is full"}
    data = embedded(page.html(Results([row(0, device=name, device_kind=kind)], {})))
    assert data["derived"][0]["roof_device"] == roof["device"]


def test_the_change_of_a_cell_is_in_the_page():
    before = results(3, settings={"THREADS": "1"})
    before.rows[2].status, before.rows[2].median_s, before.rows[2].medians_s = "timeout", None, []
    data = embedded(page.html(results(settings={"THREADS": "2"}), before))
    assert data["comparison"]["differences"] == [["settings.THREADS", "1", "2"]]
    assert [each["earlier"]["outcome"] for each in data["derived"]][2] == "fixed"
    assert data["derived"][0]["earlier"]["ratio"] == 1.0
    assert embedded(page.html(results()))["comparison"] is None


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_data_everywhere(text):
    run = results(machine={text: text}, workloads={text: {"timed": text, "code": text}})
    run.rows[0] = row(0, workload=text, group=text, reason=text, fix=text, roof_doubt=text, versions={text: text})
    shown = page.html(run, run)
    assert Elements(shown).tags == Elements(page.html(results(), results())).tags
    data = embedded(shown.encode().decode())
    assert data["environment"] == run.environment
    assert data["rows"][0] == asdict(run.rows[0])


def test_nan_and_infinity_are_null():
    run = results(1, seconds=math.inf)
    run.rows[0].error, run.rows[0].medians_s = math.nan, [[1.0, -math.inf]]
    data = embedded(page.html(run))
    assert data["environment"]["seconds"] is None
    assert (data["rows"][0]["error"], data["rows"][0]["medians_s"]) == (None, [[1.0, None]])
    assert math.isnan(run.rows[0].error)


def test_a_run_without_rows_is_a_page():
    data = embedded(page.html(Results([], {})))
    assert (data["rows"], data["derived"], data["environment"]) == ([], [], {})


def test_three_hundred_cells_take_less_than_two_megabytes():
    code = {f"workload {i}": {"timed": "f(x)", "code": "x = x + 1\n" * 40} for i in range(30)}
    run = results(300, workloads=code)
    for known in run.rows:
        known.medians_s = [[math.pi * 1e-5] * 12] * 2
        known.versions = {f"library {i}": "1.2.3" for i in range(8)}
        known.reason, known.fix, known.machine = "because " * 20, "do this " * 10, "a machine " * 10
    assert len(page.html(run, run).encode()) < 2_000_000


def test_nothing_is_fetched_and_no_handler_is_inline():
    for tag, attributes in Elements(page.html(results(), results())).tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcset", "action")], tag
        assert "src" not in attributes
        assert tag not in ("link", "img", "iframe", "base")
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import", page.html(results()))


def test_the_policy_allows_only_this_style_and_script():
    elements = Elements(page.html(results()))
    policy = next(known["content"] for tag, known in elements.tags if known.get("http-equiv"))
    rules = dict(rule.strip().split(maxsplit=1) for rule in policy.split(";"))
    for rule, element in (("style-src", ("style", None)), ("script-src", ("script", None))):
        digest = hashlib.sha256(elements.inner[element].encode()).digest()
        assert rules[rule] == f"'sha256-{base64.b64encode(digest).decode()}'"
    assert rules["default-src"] == "'none'"
    assert [known for tag, known in elements.tags if tag == "script"] == [
        *({"type": "application/json", "id": "data"}, {}),
    ]
