"""The report, its output formats and the command line."""

import json
import re
import runpy
import time
from pathlib import Path
from typing import get_args

import pytest

from xarrayops.port import __main__ as command_line
from xarrayops.port.checking import check, page
from xarrayops.port.findings import ALL, Kind

RESULTS = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "cpu-2-cores"
SNIPPETS = runpy.run_path(str(Path(__file__).parent / "snippets.py"))
PROGRAM = """import numpy as np
def f(x, n):
    y = np.zeros(n)
    for i in range(n):
        y[i] = float(x[i, 0])
    return y.std(axis=0) + np.load("a") + "<script>&".count("<")
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_findings_are_in_the_order_of_the_source_and_have_all_fields(program):
    report = check(program)
    assert [finding.line for finding in report.findings] == sorted(finding.line for finding in report.findings)
    kinds = {"creation", "dtype", "item assignment", "loop", "method", "name", "scalar"}
    assert {finding.kind for finding in report.findings} == kinds
    for finding in report.findings:
        assert finding.kind in get_args(Kind)
        assert finding.what
        assert finding.instead
        assert set(finding.backends) <= set(ALL)
        assert (finding.line, finding.column) < (finding.end_line, finding.end_column)


def test_positions(program):
    (finding,) = (finding for finding in check(program).findings if finding.kind == "method")
    text = PROGRAM.splitlines()[finding.line - 1]
    assert text[finding.column - 1 : finding.end_column - 1] == "y.std(axis=0)"


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("x = 1", {"ready"}),
        ("import numpy as np\ndef f(x):\n    return np.exp(x).sum(axis=0)", {"ready"}),
        ("import numpy as np\nx = np.array([1]).std()", {"small fixes", "ready"}),
        ("import numpy as np\nx = np.ones(3)\nfor i in range(3):\n    x[i] = 1", {"redesign"}),
        ("import numpy as np\nx = np.array(['a'], dtype=object)", {"stay on the CPU"}),
        ("import numba\n@numba.njit\ndef f(x):\n    return x", {"stay on the CPU"}),
    ],
)
def test_verdicts(text, verdicts, tmp_path):
    (tmp_path / "program.py").write_text(text)
    assert {verdict.verdict for verdict in check(tmp_path / "program.py").verdicts} == verdicts


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import numpy as np\ndef f(x, name):\n    return getattr(np, name)(x)", 3),
        ("def f(text):\n    return eval(text)", 2),
        ("from .gone import g\ndef f(x):\n    return g(x)", 3),
        ("from gone import *\ndef f(x):\n    return zeros(3) + x", 1),
        ("import pandas as pd\ndef f(path):\n    return pd.read_csv(path).mean()", 1),
    ],
)
def test_what_is_unknown_is_not_ready(text, line, tmp_path):
    (tmp_path / "program.py").write_text(text)
    report = check(tmp_path / "program.py")
    assert [(finding.line, finding.kind) for finding in report.findings] == [(line, "unknown")]
    assert [*report.verdicts] == [(backend, "unknown", (f"unknown: 1 (first in line {line})",)) for backend in ALL]


@pytest.mark.parametrize("body", ["b = a.copy()\n    return b.max(axis=0)", "return a['x'].std()", "return a.x[::-1]"])
def test_what_may_be_an_array_is_not_ready(body, tmp_path):
    """All of them differ on torch if they are arrays."""
    (tmp_path / "program.py").write_text(f"def f(a):\n    {body}\n")
    assert {each.backend: each.verdict for each in check(tmp_path / "program.py").verdicts}["torch"] == "small fixes"


OPEN = """import numpy as np
from scipy.signal import filtfilt
def f(x, b: np.ndarray, name="a", n=3):
    t = np.linspace(0, 1, n)
    return filtfilt(b, b, x).std(0) + x[::-1] + np.matrix(t)
"""


def test_a_verdict_names_each_kind_of_its_findings(tmp_path):
    (tmp_path / "program.py").write_text(OPEN)
    report = check(tmp_path / "program.py")
    for backend, _, reasons in report.verdicts:
        kinds = {each.kind for each in report.findings if backend in each.backends}
        assert {reason.removeprefix("perhaps ").partition(":")[0] for reason in reasons} == kinds
    (torch,) = (each for each in report.verdicts if each.backend == "torch")
    assert {"name: 1 (first in line 5)", "perhaps method: 1 (first in line 5)"} <= {*torch.reasons}


def test_guesses_ask_once_for_annotations(tmp_path, capsys):
    path, out = tmp_path / "program.py", tmp_path / "out.py"
    asked = "annotations such as x: np.ndarray or n: int make the result more precise; without them: x of f"
    path.write_text(OPEN)
    assert [*check(path).notes] == [asked]
    for given in (["check", str(path)], ["rewrite", str(path), "-o", str(out)]):
        assert command_line.main(given) == 0
        assert capsys.readouterr().out.count(asked) == 1
    path.write_text(OPEN.replace("(x,", "(x: np.ndarray,"))
    assert not check(path).notes


OTHER_LINES = """import numpy as np
def other(x: np.ndarray):
    for i in range(3):
        x[i, 0] = x.std()
    return x
def f(x: np.ndarray):
    if x.shape[0] > 5:
        return x.var(
            axis=0
        )
    y = x.max(axis=0)
    return (y
        + x.mean())
"""


def test_lines_that_the_call_did_not_reach_stand_apart(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(OTHER_LINES)
    assert {each.verdict for each in check(path).verdicts} == {"redesign"}
    report = check(path, "f(np.ones((2, 3)))", machine=RESULTS)
    assert {finding.line for finding in report.findings} == {11}
    assert {finding.line for finding in report.unreached} == {3, 4, 8}
    assert {each.verdict for each in report.verdicts} <= {"ready", "small fixes", "stay on the CPU"}
    assert "in lines that the call did not reach" in report.summary()
    assert {each["line"] for each in report.as_dict()["unreached"]} == {3, 4, 8}
    rows = page.html(report).split("<tr")
    assert {i for i in range(1, 14) for row in rows if f'id="L{i}"' in row and "not reached" in row} == {3, 4, 8}
    assert command_line.main(["check", str(path), "--call", "f(np.ones((2, 3)))", "--machine", str(RESULTS)]) == 0
    shown, _, apart = capsys.readouterr().out.partition("lines that the call did not reach:")
    assert "line 11" in shown
    assert "line 4" not in shown
    assert "line 4" in apart


def test_what_threads_and_compiled_functions_run_is_reached(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\nfrom threading import Thread\ndef g(x):\n    print(x.std())\n"
        "def f(x):\n    thread = Thread(target=g, args=(x,))\n    thread.start()\n    thread.join()\n"
    )
    assert {finding.line for finding in check(path, "f(np.ones(3))", machine=RESULTS).findings} == {4}
    path.write_text("import numba\n@numba.njit\ndef f(x):\n    return x + 1\ndef g():\n    return 1\n")
    pytest.importorskip("numba")
    assert {each.verdict for each in check(path, "g()", machine=RESULTS).verdicts} == {"stay on the CPU"}


def test_guesses_are_at_most_small_fixes(tmp_path):
    (tmp_path / "program.py").write_text("def f(x):\n    for i in range(3):\n        x[i, 1] = float(x[i, 0])\n")
    report = check(tmp_path / "program.py")
    assert {verdict.verdict for verdict in report.verdicts} == {"small fixes"}
    assert all(reason.startswith("perhaps ") for verdict in report.verdicts for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("line", "kind", "instead"),
    [
        ("from numpy import *", "import", "import xarrayops.numpy as np"),
        ("np.ndarray((2, 3))", "name", "np.empty((2, 3))"),
        ("def f(x):\n    return np.zeros(3) + x.reshape(-1)", "creation", "np.zeros(3, like=x)"),
        ("np.load('x')", "name", "xo.convert(x, "),
        ("np.vectorize(f)", "name", "whole arrays"),
        ("np.random.seed(0)", "name", "xo.random.default_rng"),
        ("rng = np.random.default_rng(0)", "random", "numpy.random.default_rng(0)"),
        ("np.random.default_rng(0).normal(3)", "random", "like=x"),
        ("rng = np.random.default_rng(0)\nrng.poisson(3)", "name", "NumPy's generator has this distribution"),
        ("np.add(x, 1, where=x > 0)", "argument", "np.where(x > 0, np.add(x, 1), 0)"),
        ("np.quantile(x, 0.5, interpolation='lower')", "argument", "np.quantile(x, 0.5, method='lower')"),
        ("np.arange(0, 3, 1, int)", "argument", "np.arange(0, 3, 1, dtype=int)"),
        ("import scipy.fft\nscipy.fft.dct(x)", "foreign call", "xo.on_host(scipy.fft.dct)(x)"),
        ("import scipy.fft\nscipy.fft.dct(2, x=x)", "foreign call", "xo.on_host(scipy.fft.dct)(2, x=x)"),
        ("x.astype('U5')", "dtype", "numbers for names"),
        ("np.zeros(3, dtype=[('a', float)])", "dtype", "one array for each field"),
        ("x[x > 0]", "data-dependent shape", "np.where"),
        ("np.unique(x)", "data-dependent shape", "np.where"),
        ("while x.any():\n    x = x * 0", "scalar", "np.where"),
        ("for v in x:\n    print(v)", "loop", "slices"),
        ("sum(x)", "loop", "np.sum(x, axis=0)"),
        ("[float(v) for v in x]", "scalar", "keep it"),
        ("import xarrayops as xo\nfor k in range(3):\n    x = xo.at(x)[k].set(0)", "copy", "copy=None"),
        ("x.T[0] = 1", "view", "x = np.transpose(xo.at(np.transpose(x))[0].assign(1))"),
    ],
)
def test_kinds_of_findings(line, kind, instead, tmp_path):
    (tmp_path / "program.py").write_text(f"import numpy as np\nx = np.linspace(0.0, 1.0, 3)\n{line}\n")
    found = [f for f in check(tmp_path / "program.py").findings if f.kind == kind and f.line > 2]
    assert found
    assert any(instead in finding.instead for finding in found)


@pytest.mark.parametrize(
    "line",
    [
        "float(x[0])",
        "y = {}\ny['a'] = 1",
        "y = [1, 2]\ny[0] = 3",
        "n = len(x)\nfor i in range(n):\n    print(i)",
        "for t in range(3):\n    x = x * 0.5",
        "import math\ny = math.sqrt(2.0)",
        "s = 'a'.strip()\ns.copy = 3",
        "np.linalg.norm(x, axis=0)",
        "import json\njson.dumps({})",
        "isinstance(x, np.ndarray)",
        "x.dtype == np.float64",
        "x[np.newaxis]",
        "max(1, 2)",
        "y = np.float32(2.0)",
        "def f(x=None):\n    return x",
        "x.reshape(-1).sum()",
        "def f(n):\n    return np.zeros(n, np.float32)",
        "def f(y):\n    return np.array(y.T)",
    ],
)
def test_what_is_not_flagged(line, tmp_path):
    (tmp_path / "program.py").write_text(f"import numpy as np\nx = np.linspace(0.0, 1.0, 3)\n{line}\n")
    assert [finding for finding in check(tmp_path / "program.py").findings if finding.line > 2] == []


@pytest.mark.parametrize(
    "text",
    ["x = " + "f(" * 60 + "1" + ")" * 60, "x = " + " + ".join(["y"] * 140), "x = " + "[" * 90 + "]" * 90],
    ids=["calls", "sums", "lists"],
)
def test_deep_expressions(text, tmp_path):
    """All that `read` accepts can be analysed within Python's limit of recursion."""
    (tmp_path / "program.py").write_text(text)
    assert check(tmp_path / "program.py").findings == ()


def test_deep_blocks(tmp_path):
    nested = [f"{' ' * i}if x[{i}] > 0:" for i in range(60)]
    (tmp_path / "program.py").write_text(
        "\n".join(["import numpy as np", "x = np.ones(3)", *nested, " " * 60 + "x[0] = 1"])
    )
    assert check(tmp_path / "program.py").findings[-1].line == 63


def test_json(program, capsys):
    assert command_line.main(["check", str(program), "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["findings"] == json.loads(json.dumps(check(program).as_dict()["findings"]))
    assert {verdict["backend"] for verdict in data["verdicts"]} == set(ALL)
    assert data["findings"][0]["place"] == "line 3"


def test_terminal(program, capsys):
    assert command_line.main(["check", str(program)]) == 0
    text = capsys.readouterr().out
    assert "line 5: y[i] = float(x[i, 0])" in text
    assert re.search(
        r"item assignment \[jax\]: JAX arrays cannot change .*Instead: y = xo.at\(y\)\[i\].assign\(float", text
    )
    assert "torch: redesign" in text


def test_a_call_gives_a_forecast(program, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("xarrayops.port.trace.run.CpuContention.share", lambda self, workers: None)
    program.write_text(PROGRAM.replace(' + np.load("a")', ""))
    given = ["check", str(program), "--call", "f(np.ones((50, 2)), 50)", "--machine", str(RESULTS), "--format", "json"]
    assert command_line.main([*given, "--page", str(tmp_path / "out.html")]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {forecast["backend"] for forecast in data["forecasts"]} == {"numpy", "torch", "jax"}
    assert [note.partition(":")[0] for note in data["notes"]] == [
        "annotations such as x",
        "cupy",
        "dask",
        "coarse forecasts for jax",
    ]
    (line,) = (line for line in data["run"] if line["line"] == 5)
    assert (line["operations"], line["numbers"]) == (100, 50)
    assert "50 numbers taken" in (tmp_path / "out.html").read_text()


def test_errors_of_the_command_line(tmp_path, capsys, program):
    assert command_line.main(["check", str(tmp_path / "missing.py")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert command_line.main(["check", str(program), "--call", "f(", "--machine", str(RESULTS)]) == 2
    assert "is not Python" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command_line.main(["check", str(program), "--machine", str(tmp_path / "missing")])
    assert "is not a folder of results" in capsys.readouterr().err


def test_the_page_has_all_lines_and_no_markup_of_the_program(program):
    report = check(program)
    text = page.html(report)
    assert "<script" not in text
    assert "&lt;script&gt;&amp;" in text
    assert len(re.findall(r'<tr[^>]* id="L\d+"', text)) == len(report.source.lines)
    assert "default-src &#x27;none&#x27;" in text or "default-src 'none'" in text
    assert not re.search(r"https?://", text)


def test_2000_lines_take_at_most_3_seconds(tmp_path):
    """All snippets, in functions, until there are 2000 lines; by processor time, whatever else runs.

    The shortest of some times counts: the garbage of earlier tests is collected in the others.
    """
    snippets = [s for name in ("METHODS", "OPERATORS", "ASSIGNMENTS", "UNFLAGGED") for s in SNIPPETS[name]]
    lines = ["import numpy as np"]
    while len(lines) < 2000:
        setup = [f"    {line}" for line in SNIPPETS["SETUP"].splitlines()]
        lines += [f"def f{len(lines)}(x):", *setup, "    for k in x:"]
        lines += [f"        {line}" for snippet in snippets[:40] for line in snippet.splitlines()]
        snippets = snippets[40:] + snippets[:40]
    (tmp_path / "program.py").write_text("\n".join(lines[:2000]))
    seconds = []
    for _ in range(3):
        start = time.process_time()
        report = check(tmp_path / "program.py")
        seconds.append(time.process_time() - start)
    assert min(seconds) <= 3
    assert len(report.findings) > 500


def test_the_run_finds_calls_of_other_packages_that_give_arrays(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\nfrom scipy.signal import get_window\ndef f(n):\n    return get_window('hann', n) * 2\n"
    )
    report = check(path, "f(9)", machine=RESULTS)
    assert [(finding.line, finding.kind) for finding in report.findings] == [(4, "foreign call")]
    assert report.summary() == "1 finding in 1 of 5 lines"


def test_a_finding_that_stands_several_times_in_a_line_is_shown_once(tmp_path, capsys):
    path = tmp_path / "program.py"
    path.write_text(
        "import numpy as np\ndef f(x: np.ndarray):\n    return np.sum(x[x > 0]) + np.max(x[x > 0]) + np.sum(x[x > 0])\n"
    )
    assert len([each for each in check(path).findings if each.kind == "data-dependent shape"]) == 3
    assert command_line.main(["check", str(path), "--page", str(tmp_path / "out.html")]) == 0
    shown = capsys.readouterr().out
    assert shown.count("data-dependent shape [") == 1
    assert "(3 times in this line)" in shown
    assert (tmp_path / "out.html").read_text().count("(3 times in this line)") == 1
