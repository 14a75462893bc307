"""The published claims: the verdicts, the claims as data, and the script at toy size."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from xarrayops._core.backends import registry
from xarrayops.bench import workload_sources
from xarrayops.bench.results import Row

FOLDER = Path(__file__).parents[3] / "benchmarks" / "claims"


@pytest.fixture(scope="module", autouse=True)
def modules():
    """The script's modules by name. They are removed from sys.modules afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        found = {name: importlib.import_module(name) for name in ("catalogue", "judging")}
        spec = importlib.util.spec_from_file_location("claims_main", FOLDER / "__main__.py")
        found["main"] = sys.modules["claims_main"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found["main"])
        yield found
    for name in ("catalogue", "judging", "claims_main", "claim_workloads"):
        sys.modules.pop(name, None)


@pytest.fixture
def judging(modules):
    return modules["judging"]


@pytest.fixture
def claims(modules):
    return {claim.id: claim for claim in modules["catalogue"].CLAIMS}


def row(workload, backend="numpy", **fields):
    """A measured row of 8 MiB in float32, unless the fields say otherwise."""
    known = {"status": "ok", "device_kind": "cpu", "confidence": 0.97, "shape": [[2048, 1024]], "size": 100}
    return Row(workload, backend, "cpu", "float32", **{**known, **fields})


def timed(workload, *processes, **fields):
    """A row with the medians of the rounds of each process."""
    rounds = [seconds for process in processes for seconds in process]
    return row(workload, median_s=median(rounds), medians_s=[list(process) for process in processes], **fields)


def by_place(*rows):
    found = {}
    for each in rows:
        found.setdefault((each.workload, each.backend, each.device_kind), []).append(each)
    return found


# claimed 2: the limits are 1.1, 1.818... and 2.2
@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.4, 0.99, "does not hold"),
        (0.99, 1.01, "does not hold"),
        (1.09, 1.11, "undecided"),
        (1.1, 1.1, "undecided"),
        (0.9, 1.1, "undecided"),
        (1.1, 1.2, "undecided"),
        (1.11, 1.8, "weaker"),
        (1.8, 1.9, "undecided"),
        (1.82, 2.19, "holds"),
        (2.0, 2.3, "undecided"),
        (2.21, 40.0, "stronger"),
        (0.5, 9.0, "undecided"),
    ],
)
def test_a_verdict_needs_an_interval_between_two_limits(judging, low, high, verdict):
    found, reason = judging.verdict(2.0, judging.Ratio((low + high) / 2, low, high))
    assert found == verdict
    assert bool(reason) == (verdict == "undecided")


def test_an_interval_across_several_limits_names_the_outermost_verdicts(judging):
    assert "'does not hold' and 'stronger'" in judging.verdict(2.0, judging.Ratio(1.5, 0.5, 9.0))[1]
    assert "'weaker' and 'holds'" in judging.verdict(2.0, judging.Ratio(1.9, 1.7, 2.0))[1]


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.5, 0.9, "does not hold"),
        (0.9, 0.92, "undecided"),
        (0.92, 1.09, "holds"),
        (1.09, 1.11, "undecided"),
        (1.11, 3.0, "stronger"),
    ],
)
def test_equality_holds_within_a_tenth_and_is_never_weak(judging, low, high, verdict):
    assert judging.verdict(1.0, judging.Ratio(1.0, low, high))[0] == verdict


@pytest.mark.parametrize(
    ("ratio", "reason"),
    [((2.0, None, None), "one round"), ((2.0, 1.9, 2.1, 0.875), "88% confidence")],
)
def test_few_rounds_are_undecided(judging, ratio, reason):
    found, why = judging.verdict(2.0, judging.Ratio(*ratio))
    assert found == "undecided"
    assert reason in why


def test_rounds_are_compared_one_by_one(judging, claims):
    """The machine, and with it both workloads, is ten times as slow in some rounds."""
    claim = claims["torchscript-matmul-relu"]
    slow, fast = ((4.0, 40.0, 4.1, 39.0), (4.0, 4.1, 3.9, 40.0)), ((3.0, 30.0, 3.0, 30.0), (3.0, 3.0, 3.0, 30.0, 9.0))
    rows = by_place(timed(claim.baseline, *slow, backend="torch"), timed(claim.contestant, *fast, backend="torch"))
    found = judging.judge(claim, "torch", "cpu", rows)
    assert (found.found, found.low, found.high) == pytest.approx((4 / 3, 1.3, 4.1 / 3))
    assert (found.verdict, found.reason, found.confidence) == ("holds", "", 1 - 2 / 2**8)
    assert found.summary == "found 1.33 (1.30 to 1.37), claimed 1.33"
    assert found.figures == {"baseline_s": 4.1, "contestant_s": 3.0}


@pytest.mark.parametrize(("rounds", "confidence"), [(1, None), (2, 0.5), (5, 0.9375)])
def test_times_with_few_rounds_are_undecided(judging, claims, rounds, confidence):
    claim = claims["csr-as-fast-as-coo"]
    rows = by_place(timed(claim.baseline, [1.0] * rounds), timed(claim.contestant, [1.0] * 9))
    found = judging.judge(claim, "numpy", "cpu", rows)
    assert (found.verdict, found.confidence, found.found) == ("undecided", confidence, 1.0)


def test_a_baseline_of_another_library_is_looked_up_on_the_cpu(judging, claims):
    claim = claims["cupy-matmul"]
    rows = by_place(
        timed("matmul 10000", [8.1, 8.2, 8.3]),
        timed("matmul 10000", [0.1, 0.1, 0.1], backend="cupy", device_kind="cuda"),
    )
    found = judging.judge(claim, "cupy", "cuda", rows)
    assert found.found == pytest.approx(82)
    assert found.summary == "found 82.0 (81.0 to 83.0), claimed 82"


MIB = 1 << 20


def test_memory_counts_the_inputs_too(judging, claims):
    claim = claims["in-place-memory"]
    shape = [[16384, 1024]]
    rows = by_place(
        row(claim.baseline, shape=shape, peak_bytes=64 * MIB), row(claim.contestant, shape=shape, peak_bytes=0)
    )
    found = judging.judge(claim, "numpy", "cpu", rows)
    assert found.found == 2.0
    assert (found.low, found.high) == pytest.approx((127.75 / 64.25, 128.25 / 64))
    assert found.verdict == "holds"
    assert found.figures["inputs_bytes"] == 64 * MIB


@pytest.mark.parametrize(("copy_peak", "verdict"), [(64, "does not hold"), (32, "weaker")])
def test_memory_that_is_not_saved(judging, claims, copy_peak, verdict):
    claim = claims["in-place-memory"]
    rows = by_place(
        row(claim.baseline, shape=[[16384, 1024]], peak_bytes=62 * MIB),
        row(claim.contestant, shape=[[16384, 1024]], peak_bytes=copy_peak * MIB),
    )
    assert judging.judge(claim, "numpy", "cpu", rows).verdict == verdict


def growing(claim, baseline, contestant):
    """Rows of two lengths with these peaks in MiB."""
    peaks = {claim.baseline: baseline, claim.contestant: contestant}
    return by_place(
        *(row(name, size=512, peak_bytes=int(small * MIB)) for name, (small, _) in peaks.items()),
        *(row(name, size=1024, peak_bytes=int(large * MIB)) for name, (_, large) in peaks.items()),
    )


@pytest.mark.parametrize(
    ("contestant", "ratio", "verdict"),
    [((8, 16), 2.0, "holds"), ((64, 260), 0.98, "does not hold"), ((8, 12), 2.67, "stronger")],
)
def test_growth_is_compared_with_growth(judging, claims, contestant, ratio, verdict):
    claim = claims["flash-attention-memory"]
    found = judging.judge(claim, "numpy", "cpu", growing(claim, (200, 800), contestant))
    assert found.found == pytest.approx(ratio, abs=0.01)
    assert found.verdict == verdict
    assert found.figures["contestant_added_bytes_at_1024"] == contestant[1] * MIB
    assert found.sizes == [512, 1024]


def test_memory_below_the_noise_is_not_measured(judging, claims):
    claim = claims["flash-attention-memory"]
    found = judging.judge(claim, "numpy", "cpu", growing(claim, (200, 800), (0.2, 16)))
    assert found.verdict == "cannot be measured here"
    assert "not larger than the measurement noise" in found.reason
    assert found.found is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "wrong-answer", "reason": "error 1", "fix": "report it"}, "wrong-answer, error 1. report it"),
        ({"status": "over-budget", "reason": "the budget was spent"}, "over-budget"),
    ],
)
@pytest.mark.parametrize("role", ["baseline", "contestant"])
def test_a_missing_time_is_reported(judging, claims, role, fields, reason):
    claim = claims["csr-as-fast-as-coo"]
    pair = {"baseline": timed(claim.baseline, [1.0]), "contestant": timed(claim.contestant, [1.0])}
    pair[role] = replace(pair[role], **fields)
    found = judging.judge(claim, "numpy", "cpu", by_place(*pair.values()))
    assert found.verdict == "cannot be measured here"
    assert getattr(claim, role) in found.reason
    assert reason in found.reason
    assert found.found is None


def test_a_roofline_that_is_not_trusted_does_not_matter(judging, claims):
    """The roofline does not affect the two times that are compared."""
    claim = claims["csr-as-fast-as-coo"]
    rows = by_place(
        timed(claim.baseline, [1.0] * 9, roof_doubt="886% of the compute limit"), timed(claim.contestant, [1.0] * 9)
    )
    assert judging.judge(claim, "numpy", "cpu", rows).verdict == "holds"


def test_missing_peaks_and_rows_have_reasons(judging, claims):
    claim = claims["in-place-memory"]
    rows = by_place(row(claim.baseline), row(claim.contestant))
    assert "no peak memory" in judging.judge(claim, "numpy", "cpu", rows).reason
    assert "no results for" in judging.judge(claim, "numpy", "cpu", {}).reason


def test_every_claim_has_a_source_and_requirements(claims):
    workloads = {workload.name: workload for workload in workload_sources.load([str(FOLDER / "claim_workloads.py")])}
    assert len(claims) >= 9
    for claim in claims.values():
        assert claim.source.url.startswith("https://")
        assert claim.source.origin
        assert claim.source.says
        assert claim.source.has_figure or any(word in claim.source.origin for word in ("common claim", "requests it"))
        assert claim.claimed >= 1
        assert set(claim.backends) <= set(registry.names())
        assert set(claim.devices) <= {"cpu", "cuda", "tpu"}
        assert all(name in claim.needs for name in (*claim.backends, *claim.devices))
        for name in (claim.baseline, claim.contestant):
            assert len(workloads[name].dtypes) == 1
            if claim.quantity == "memory growth":
                assert all(len(workloads[name].ladder(size)) == 2 for size in ("toy", "default"))
        assert workloads[claim.baseline].dtypes == workloads[claim.contestant].dtypes
        assert workloads[claim.baseline].sizes == workloads[claim.contestant].sizes
    named = {name for claim in claims.values() for name in (claim.baseline, claim.contestant)}
    assert named == set(workloads), "no workload without a claim"


def test_claims_that_the_machine_cannot_measure(modules, claims):
    main = modules["main"]
    here = main.Here({"numpy": ("cpu",), "torch": ("cpu",)}, {"cupy": "cupy: no device that it can use. Get one."})
    lacking = [claims["cupy-matmul"], claims["amp-layers"]]
    findings, environments = main.measured(lacking, here, main.Settings("toy"))
    assert [(each.verdict, each.found) for each in findings] == [("cannot be measured here", None)] * 2
    assert findings[0].reason == "cupy: no device that it can use. Get one."
    assert findings[1].reason == "torch has no cuda device here"
    assert environments == [], "nothing was run"
    written = main.report(findings, environments, "toy")
    assert [each["id"] for each in written["claims"]] == ["cupy-matmul", "amp-layers"]
    assert json.loads(json.dumps(written)) == written


def test_the_library_of_the_baseline_must_be_available(modules, claims):
    here = modules["main"].Here({"cupy": ("cpu", "cuda")}, {"numpy": "numpy: broken"})
    assert here.places(claims["cupy-matmul"]) == []
    assert here.lacking(claims["cupy-matmul"]) == [("numpy", "numpy: broken")]
    here.devices["numpy"] = ("cpu",)
    assert here.places(claims["cupy-matmul"]) == [("cupy", "cuda")]


SCHEMA = {
    "id": str, "claim": str, "source": dict, "needs": str, "claimed": float, "quantity": str, "backend": str,
    "device": str, "verdict": str, "reason": str, "sizes": list, "figures": dict,
}  # fmt: skip


def test_the_script_measures_what_it_can(modules, tmp_path, monkeypatch, capsys):
    main, out = modules["main"], tmp_path / "claims.json"
    monkeypatch.setattr(main.Settings, "of", lambda size, budget: main.Settings(size, budget, 1, 1, 0.002))
    asked = ["contiguous-matmul-strided", "cupy-matmul", "torchscript-matmul-relu", "amp-layers"]
    assert main.main(["--size", "toy", "--only", ",".join(asked), "--out", str(out)]) == 0
    written = json.loads(out.read_text())
    assert written.keys() >= {"machine", "versions", "date", "xarrayops", "rule", "claims", "load"}
    assert written["size"] == "toy"
    assert "numpy" in written["versions"]
    in_order = [claim.id for claim in main.CLAIMS if claim.id in asked]
    assert list(dict.fromkeys(each["id"] for each in written["claims"])) == in_order
    for each in written["claims"]:
        assert {name: type(each[name]) for name in SCHEMA} == SCHEMA
        assert each["source"].keys() == {"origin", "url", "says", "has_figure"}
        assert (each["found"] is None) == (each["verdict"] == "cannot be measured here")
        assert each["found"] is None or (math.isfinite(each["found"]) and each["found"] > 0 and each["sizes"])
        assert each["reason"], "a round at toy size is undecided, with a reason"
    measured = {(each["id"], each["backend"], each["device"]) for each in written["claims"] if each["found"]}
    assert ("contiguous-matmul-strided", "numpy", "cpu") in measured
    if "torch" in written["versions"]:
        assert ("torchscript-matmul-relu", "torch", "cpu") in measured
    printed = capsys.readouterr().out
    assert "Toy sizes only show" in printed
    assert all(name in printed for name in asked)


def test_an_unknown_claim_is_refused(modules, capsys):
    with pytest.raises(SystemExit, match="2"):
        modules["main"].main(["--only", "perpetual-motion"])
    assert "no claim 'perpetual-motion'" in capsys.readouterr().err


def test_an_interrupt_writes_nothing(modules, tmp_path, monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(modules["main"], "measured", interrupted)
    assert modules["main"].main(["--only", "amp-layers", "--out", str(tmp_path / "out.json")]) == 130
    assert not list(tmp_path.iterdir())
    assert "Interrupted" in capsys.readouterr().err
