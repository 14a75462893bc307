"""strict and profile: which calls of each library cross, at which line, and in which thread."""

import asyncio
import subprocess
import sys
import threading
import traceback
import warnings
from contextlib import nullcontext, suppress

import numpy as np
import pytest

import xarrayops as xo


def line_of(crossing):
    with open(crossing.file, encoding="utf-8") as file:
        return file.read().splitlines()[crossing.line - 1].strip()


def counted(function, *args):
    with xo.profile(show=False) as p:
        function(*args)
    return p.transfers, p.waits, p.computes


CROSSING = {
    "bool": (lambda x: bool(x.any()), (0, 1, 0)),
    "float": (lambda x: float(x[1]), (0, 1, 0)),
    "int": (lambda x: int(x[1]), (0, 1, 0)),
    "index": (lambda x: range(9)[x[1]] if "int" in str(x.dtype) else x[1].item(), (0, 1, 0)),
    "item": (lambda x: x[1].item(), (0, 1, 0)),
    "text": (lambda x: f"{x[1]:.2f}", (0, 1, 0)),
    "tolist": (lambda x: x.tolist(), (1, 0, 0)),
    "mask": (lambda x: x[x > 1], (0, 1, 0)),
    "three": (lambda x: [float(x[i]) for i in range(3)], (0, 3, 0)),
    "none": (lambda x: (x + 1) * x[1:2] - x.sum(), (0, 0, 0)),
    "shapes": (lambda x: (len(x), x.shape[0], x.ndim, x.dtype), (0, 0, 0)),
}


@pytest.mark.parametrize("library", ["torch", "jax"])
@pytest.mark.parametrize("case", CROSSING)
def test_what_crosses(library, case):
    pytest.importorskip(library)
    function, expected = CROSSING[case]
    assert counted(function, xo.asarray(np.arange(4, dtype="float32"), backend=library)) == expected


def test_nothing_of_numpy_crosses():
    for function, _ in CROSSING.values():
        assert counted(function, np.arange(4.0)) == (0, 0, 0)


def test_conversions_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(4.0)
    assert counted(np.asarray, x) == counted(torch.Tensor.numpy, x) == (1, 0, 0)
    assert counted(torch.nonzero, x) == counted(torch.unique, x) == counted(torch.equal, x, x) == (0, 1, 0)
    assert counted(torch.Tensor.cpu, x) == counted(torch.Tensor.to, x, "cpu") == (0, 0, 0), "it is there already"
    assert counted(xo.convert, x, "numpy")[0] == 1
    mask = torch.tensor([True, False, True, False])
    assert counted(x.__setitem__, mask, 1.0) == (0, 0, 0), "a number is written where the mask is, without positions"
    assert counted(x.__setitem__, mask, torch.ones(2)) == (0, 1, 0)


def test_device_get_of_jax():
    jax = pytest.importorskip("jax")
    assert counted(jax.device_get, jax.numpy.arange(3)) == (1, 0, 0)
    assert counted(jax.jit(lambda x: x * 2), jax.numpy.arange(3)) == (0, 0, 0)


def test_dask_counts_once_while_another_thread_counts():
    da = pytest.importorskip("dask.array")
    with xo.profile(show=False) as outer:
        thread = threading.Thread(target=lambda: found.append(counted(xo.compute, da.ones(2, chunks=1))))
        found = []
        thread.start()
        thread.join()
        assert found == [(0, 0, 1)]
        xo.compute(da.ones(2, chunks=1))
    assert outer.computes == 1


def test_methods_of_jax_are_restored():
    jax = pytest.importorskip("jax")
    cls = type(jax.numpy.zeros(()))
    before = dict(vars(cls))
    with xo.profile(show=False), xo.strict():
        assert cls.__bool__ is not before["__bool__"]
    assert {name: vars(cls)[name] for name in before} == before


def test_computes_of_dask():
    da = pytest.importorskip("dask.array")
    x = da.ones((4, 4), chunks=2)
    assert counted(lambda: (x + 1).sum(axis=0)) == (0, 0, 0)
    for compute in (lambda: float(x.sum()), lambda: np.asarray(x), x.compute, lambda: xo.compute(x, x)):
        assert counted(compute) == (0, 0, 1)
    with pytest.raises(xo.CrossingError, match=r"computes=0.*test_transfers\.py:\d+"), xo.strict():
        x.compute()
    with xo.strict(computes=1):
        x.compute()


def test_the_line_the_bytes_and_the_table(capsys):
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0)
    with xo.profile() as p:
        for i in range(3):
            float(x[i])
        x.numpy()
    first, second = p.crossings
    assert (first.kind, first.times, first.nbytes, second.nbytes) == ("wait", 3, 12, 24)
    assert (line_of(first), line_of(second)) == ("float(x[i])", "x.numpy()")
    assert first.function == "test_the_line_the_bytes_and_the_table"
    assert capsys.readouterr().out.strip() == str(p)
    assert str(p).splitlines()[0] == "transfers 1, waits 3, computes 0"
    assert f"test_transfers.py:{first.line}" in str(p)


@pytest.mark.parametrize(("limits", "allowed"), [({"waits": 2}, 2), ({"waits": 0}, 0), ({"waits": None}, 5)])
def test_the_limit(limits, allowed):
    torch = pytest.importorskip("torch")
    x, done = torch.arange(5.0), 0
    refused = pytest.raises(xo.CrossingError, match=f"waits={allowed}") if allowed < 5 else nullcontext()
    with refused as info, xo.strict(**limits):
        for each in range(5):
            float(x[each])
            done += 1
    assert done == allowed
    if info is not None:
        line = next(each.lineno for each in traceback.extract_tb(info.tb) if each.filename == __file__)
        assert f"test_transfers.py:{line}, in test_the_limit" in str(info.value)


@pytest.mark.parametrize(
    ("inside", "function"), [("scipy", "detrend"), ("scipy.signal", "detrend"), ("scipy.special", "")]
)
def test_lines_inside_a_package(inside, function):
    torch, signal = pytest.importorskip("torch"), pytest.importorskip("scipy.signal")
    with xo.profile(show=False, inside=inside) as inner, xo.profile(show=False) as outer:
        signal.detrend(torch.arange(4.0))  # it converts the tensor to NumPy
    (of_inner,), (of_outer,) = inner.crossings, outer.crossings
    assert of_outer.file == __file__
    assert of_inner.function == (function or of_outer.function)
    assert ("signal" in of_inner.file) is bool(function)


def test_an_error_that_the_program_caught_is_raised_at_the_end():
    torch = pytest.importorskip("torch")
    with pytest.raises(xo.CrossingError, match="made 1"), xo.strict(), suppress(Exception):
        torch.ones(1).numpy()


def test_another_error_is_not_replaced():
    torch = pytest.importorskip("torch")

    def caught():
        with suppress(xo.CrossingError):
            torch.ones(1).numpy()
        return 1 / 0

    with pytest.raises(ZeroDivisionError), xo.strict():
        caught()


def test_blocks_nest():
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    with xo.profile(show=False) as outer:
        float(x[0])
        with xo.strict() as inner:
            float(x[0])
        with pytest.raises(xo.CrossingError), xo.strict(waits=0):
            float(x[0])
    assert (outer.waits, inner.waits) == (3, 1)
    assert counted(float, x[0]) == (0, 1, 0)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_other_threads_are_not_counted(library):
    pytest.importorskip(library)
    x = xo.ones(3, backend=library)
    with xo.strict(waits=0):
        thread = threading.Thread(target=lambda: found.append(float(x[0])))
        found = []
        thread.start()
        thread.join()
    assert found == [1.0]


def test_tasks_count_their_own():
    jnp = pytest.importorskip("jax.numpy")
    x = jnp.ones(3)

    async def one(times):
        with xo.profile(show=False) as p:
            for _ in range(times):
                float(x[0])
                await asyncio.sleep(0)
        return p.waits

    async def both():
        return await asyncio.gather(one(2), one(5))

    assert asyncio.run(both()) == [2, 5]


def test_torch_compiles_in_a_block():
    torch = pytest.importorskip("torch")
    compiled = torch.compile(lambda x: torch.sin(x) * 2, fullgraph=True, backend="eager")
    torch.compiler.reset()
    with xo.strict(waits=0):
        y = compiled(torch.ones(2))
    assert torch.equal(y, torch.sin(torch.ones(2)) * 2)


@pytest.mark.parametrize("wrong", [{"waits": -1}, {"transfers": 1.5}, {"computes": "no"}])
def test_wrong_limits(wrong):
    with pytest.raises((ValueError, TypeError)):
        xo.strict(**wrong)


@pytest.mark.parametrize("inside", ["no_such_package.part", "scipy.", "scipy.sig", "math.part"])
def test_a_package_that_is_not_installed(inside):
    with pytest.raises(ValueError, match=f"inside='{inside}' is not an installed package or module"):
        xo.profile(inside=inside)


def test_lines_inside_array_api_extra():
    torch, xpx = pytest.importorskip("torch"), pytest.importorskip("array_api_extra")
    with xo.profile(show=False, inside="array_api_extra") as p:
        xpx.lazy_apply(lambda x: x, torch.ones(2), as_numpy=True)
    assert {"array_api_extra" in crossing.file for crossing in p.crossings} == {True}


def test_a_library_that_is_imported_and_not_used_by_us_in_the_block():
    pytest.importorskip("torch")
    program = """
import warnings, xarrayops as xo
with warnings.catch_warnings(record=True) as caught, xo.profile():
    with xo.profile():
        import torch
        float(torch.ones(1))
print([str(each.message) for each in caught])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "xo.profile: torch was imported inside the block, so its crossings were not counted" in done.stdout
    assert done.stdout.count("was imported") == 1


def test_a_library_that_is_imported_in_the_block():
    pytest.importorskip("torch")
    program = """
import xarrayops as xo
with xo.profile(show=False) as p:
    x = xo.ones(3, backend="torch")
    float(x[0])
assert p.waits == 1, p
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_cupy(cupy_environment):
    program = """
import cupy, xarrayops as xo
x = cupy.arange(4.0)
with xo.profile(show=False) as p:
    float(x[1]); bool(x.any()); x[x > 1]
    x.get(); cupy.asnumpy(x)
assert (p.transfers, p.waits) == (2, 3), p
float(x[1])
assert (p.transfers, p.waits) == (2, 3), p
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=cupy_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_waits_for_cuda_by_the_debug_mode(monkeypatch):
    """A stand-in for the debug mode: two functions warn while it is on, as those that wait for a CUDA device do."""
    torch = pytest.importorskip("torch")
    mode = [0]
    numbers = {"default": 0, "warn": 1, "error": 2}
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: mode[0])

    def set_mode(to):
        warnings.warn("Synchronization debug mode is a prototype feature", UserWarning, stacklevel=2)
        mode[0] = numbers.get(to, to)

    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", set_mode)

    def waiting(function):
        def called(self, *args, **kwargs):
            with torch._C.DisableTorchFunction():
                if mode[0]:
                    warnings.warn("called a synchronizing CUDA operation", UserWarning, stacklevel=2)
                return function(self, *args, **kwargs)

        called.__name__ = function.__name__
        return lambda *args: torch.overrides.handle_torch_function(called, args, *args)

    x = torch.arange(4.0)
    solve, item = waiting(torch.Tensor.cumsum), waiting(torch.Tensor.item)
    with xo.profile(show=False) as p:
        assert mode == [1]
        solve(x, 0)
        assert item(x[1]) == 1.0
        x + 1
    assert [(each.kind, each.what) for each in p.crossings] == [
        ("wait", "torch.cumsum on CUDA"),
        ("wait", "torch.Tensor.item"),
    ]
    assert mode == [0]
    mode[0] = 2
    with xo.profile(show=False), pytest.warns(UserWarning, match="another"):
        torch.overrides.handle_torch_function(another := lambda x: warnings.warn("another", stacklevel=1), (x,), x)
    assert mode == [2], another


def test_a_block_that_fails_to_begin_leaves_nothing_behind(monkeypatch):
    """A hook of a library raises: the next calls are not counted."""
    torch = pytest.importorskip("torch")

    def fail():
        raise RuntimeError("no debug mode")

    monkeypatch.setattr(torch.cuda, "is_initialized", fail)
    with pytest.raises(RuntimeError, match="no debug mode"), xo.strict(waits=0):
        pytest.fail("the block began")
    monkeypatch.undo()
    assert torch.ones(()).item() == 1.0
    with xo.profile(show=False) as p:
        torch.ones(()).item()
    assert p.waits == 1
