"""xo.carried: functions called elsewhere give what they give in the block, and are the same functions otherwise."""

import asyncio
import inspect
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context

import cloudpickle
import numpy as np
import pytest

import xarrayops as xo
from tests.unit.ops.carried_tasks import BLOCKS, X, adds, compiles, crosses, fails, report


@pytest.fixture(scope="module")
def process():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        yield pool


def called_in_thread(task, *args):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(task, *args).result()


@pytest.mark.parametrize("name", BLOCKS)
def test_the_result_is_that_of_the_block(name, process):
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    outside = report(X)
    with ExitStack() as opened:
        for block in BLOCKS[name]():
            opened.enter_context(block)
        expected, task = report(X), xo.carried(report)
        assert task(X) == expected
    assert expected != outside
    assert task(X) == called_in_thread(task, X) == expected
    for each in (pickle, cloudpickle):
        assert each.loads(each.dumps(task))(X) == expected
    assert process.submit(report, X).result(timeout=120) == outside
    assert process.submit(task, X).result(timeout=120) == expected
    assert report(X) == outside


def test_defaults_of_the_program_and_of_the_carried_task(process):
    task = xo.carried(report)
    try:
        xo.set_default("numpy", dtype="float32")
        expected = report(X)
        changed = xo.carried(report)
        assert called_in_thread(task, X) == task(X) != expected, "the defaults were others when it was made"
    finally:
        xo.set_default()
    assert process.submit(changed, X).result(timeout=120) == called_in_thread(changed, X) == expected


def test_engines_of_the_environment(monkeypatch, process):
    pytest.importorskip("jax")
    monkeypatch.setattr("xarrayops._ops.carried.ENVIRONMENT", ("jax",))
    assert process.submit(xo.carried(report), X).result(timeout=120)[3] == "jax:sort"


def test_compiled_functions_in_a_process_that_has_not_imported_jax():
    pytest.importorskip("jax")
    with xo.use("jax", dtype="float16"):
        task = xo.carried(compiles)
        assert compiles(2) == "float16"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(task, 2).result(timeout=120) == "float16"


def test_native_devices_are_named(process):
    jax = pytest.importorskip("jax")
    with xo.use("jax"), xo.use(device=jax.devices()[0]):
        task, expected = xo.carried(report), report(X)
    assert process.submit(task, X).result(timeout=120) == expected


def test_crossings_count_once_in_the_ledger_of_the_block():
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    with xo.profile(show=False) as p:
        task = xo.carried(crosses)
        task(x)
        called_in_thread(task, x)
        assert p.waits == 2
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(task, [x] * 40))
    assert p.waits == 42
    with xo.strict(waits=1):
        task = xo.carried(crosses)
    called_in_thread(task, x)
    with pytest.raises(xo.CrossingError):
        called_in_thread(task, x)


def test_limits_in_a_process(process):
    torch = pytest.importorskip("torch")
    with xo.strict(waits=0):
        task = xo.carried(crosses)
    with pytest.raises(xo.CrossingError, match="allows waits=0"):
        process.submit(task, torch.ones(2)).result(timeout=120)


def test_blocks_of_the_caller_are_outer_ones():
    with xo.use(dtype="float32"):
        task = xo.carried(lambda: str(xo.zeros(1).dtype))
    with xo.use(dtype="float16"):
        assert task() == "float32"
        assert str(xo.zeros(1).dtype) == "float16"
        assert xo.carried(task)() == "float32"
    inner = xo.carried(report)
    with xo.use(dtype="float32"):
        assert xo.carried(inner)(X) == inner(X)


def test_name_docstring_and_signature():
    task = xo.carried(adds)
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        assert getattr(task, name) == getattr(adds, name)
    assert (task.__wrapped__, inspect.signature(task)) == (adds, inspect.signature(adds))
    assert task(1, b=3) == 4
    with pytest.raises(TypeError, match="not int"):
        xo.carried(3)


def test_a_function_that_is_replaced_under_its_name_keeps_its_modes(monkeypatch):
    with xo.use(dtype="float32"):
        monkeypatch.setattr("tests.unit.ops.carried_tasks.report", task := xo.carried(report))
    with pytest.raises(pickle.PicklingError, match="not the same object"):
        pickle.dumps(task)
    assert cloudpickle.loads(cloudpickle.dumps(task))(X)[1] == "float32"


def test_exceptions():
    with xo.use(dtype="float32"):
        task = xo.carried(fails)
    with pytest.raises(KeyError, match="float32"):
        called_in_thread(task)
    assert str(xo.zeros(1).dtype) == "float64"


def dtypes(n):
    """A generator that also receives."""
    received = []
    try:
        for _ in range(n):
            try:
                received.append((yield str(xo.zeros(1).dtype)))
            except KeyError as error:
                received.append(error.args[0])
    finally:
        CLOSED.append(str(xo.zeros(1).dtype))
    return received


CLOSED = []


def test_generators_run_in_the_modes_and_their_callers_do_not():
    with xo.use(dtype="float32"):
        task = xo.carried(dtypes)
        assert inspect.isgeneratorfunction(task)
    steps = task(3)
    assert (next(steps), str(xo.zeros(1).dtype)) == ("float32", "float64")
    assert steps.send("sent") == steps.throw(KeyError("thrown")) == "float32"
    with pytest.raises(StopIteration) as end:
        next(steps)
    assert (end.value.value, CLOSED.pop()) == (["sent", "thrown", None], "float32")
    steps = task(3)
    next(steps)
    steps.close()
    assert CLOSED.pop() == "float32"
    with pytest.raises(ValueError, match="unknown"):
        task(2).throw(ValueError("unknown"))


async def waits(event):
    before = str(xo.zeros(1).dtype)
    await event.wait()
    return before, str(xo.zeros(1).dtype)


async def never():
    yield


def test_coroutines():
    with xo.use(dtype="float32"):
        task = xo.carried(waits)
        assert inspect.iscoroutinefunction(task)
        with pytest.raises(TypeError, match="asynchronous generator"):
            xo.carried(never)

    async def main():
        event = asyncio.Event()
        waiting = asyncio.create_task(task(event))
        await asyncio.sleep(0)
        seen = str(xo.zeros(1).dtype)
        event.set()
        return seen, await waiting

    assert asyncio.run(main()) == ("float64", ("float32", "float32"))


def test_methods_and_dask_blocks():
    da = pytest.importorskip("dask.array")

    class Model:
        with xo.use(dtype="float32"):
            apply = xo.carried(lambda self, n: xo.zeros(n))

    assert str(Model().apply(2).dtype) == "float32"
    x = da.from_array(np.concat([X] * 4), chunks=(2, 4096))
    with xo.precision(compute="float16"):
        task = xo.carried(lambda block: xo.matmul(block, block.T)[:, :1])
    assert task(X) == 4096
    for function, expected in ((task, 4096), (task.__wrapped__, 4098)):
        y = x.map_blocks(function, chunks=(2, 1), dtype="float32")
        for scheduler in ("threads", "processes"):
            np.testing.assert_array_equal(y.compute(scheduler=scheduler), [[expected]] * 4)
