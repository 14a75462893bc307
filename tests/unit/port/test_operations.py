"""The times of the kinds of operations: the measured kinds are the kinds that a traced program counts."""

from itertools import chain

import numpy as np

from xarrayops.bench.run.journal import Journal
from xarrayops.bench.run.plan import BenchPlan
from xarrayops.bench.run.runner import run as bench
from xarrayops.bench.workloads import WORKLOADS
from xarrayops.port.trace import operations
from xarrayops.port.trace.array import wrapped
from xarrayops.port.trace.forecast import size_of
from xarrayops.port.trace.modules import NumPy
from xarrayops.port.trace.rates import of_results
from xarrayops.port.trace.record import Trace

LENGTH, ORDER = 4096, 64


def samples(module, moved):
    return chain(
        operations.samples(module, moved, is_port=False, length=LENGTH),
        operations.samples_of_matrices(module, moved, order=ORDER),
    )


def test_the_trace_counts_each_sample_with_its_kind_and_size():
    trace = Trace("program.py")
    seen = set()
    for sample in samples(NumPy(np, trace), lambda x: wrapped(x, trace)):
        trace.clear()
        sample.function(*sample.arguments)
        assert sample.kind in {operation.kind for operation in trace.operations}, sample
        (operation,) = (each for each in trace.operations if each.kind == sample.kind)
        if sample.kind not in (operations.ELEMENT, operations.OF_ELEMENTS):  # their size does not matter
            assert 0.6 * sample.size <= size_of(operation) <= 1.1 * sample.size, sample
        seen.add(sample.kind)
    assert seen == set(operations.KINDS)


class Silent:
    def step(self, step):
        pass

    def results(self, results):
        pass


def test_a_run_measures_them_on_each_device(tmp_path):
    """The results have the rates that a forecast needs; a resumed run reads them from the journal."""
    plan = BenchPlan(("numpy",), WORKLOADS[:1], sizes=("toy",), rounds=1, processes=1, operations=True, timeout_s=300.0)
    found = bench(plan, Silent(), Journal(tmp_path))
    (rates,) = found.environment["operations"]
    assert (rates["backend"], rates["device"], rates["transfer_rate"]) == ("numpy", "cpu", None)
    assert {kind for kind, _, _ in rates["operations"]} == set(operations.KINDS)
    for kind, _, points in rates["operations"]:
        seconds = [each for _, each in points]
        assert seconds == sorted(seconds), kind
        assert 0 < seconds[0] < 1, kind
    again = bench(plan, Silent(), Journal(tmp_path, resume=True))
    assert again.environment["operations"] == found.environment["operations"]
    found.write(tmp_path)
    (of_numpy,), missing = of_results(tmp_path, ("numpy", "torch"))
    assert not of_numpy.is_coarse
    assert list(missing) == ["torch"]
    assert of_numpy.seconds(operations.ELEMENTWISE, False, 1e6) < of_numpy.seconds(operations.SORT, True, 1e6)
