"""``python -m tests.unit.core.modes_worker``: whether each mode holds in each place, as JSON."""

import asyncio
import json
import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import dask.array
import numpy as np
import torch

import xarrayops as xo

X = np.full((2, 2), 1 + 2.0**-12, np.float32)
TENSOR = torch.ones(2)
TASKS = dask.array.ones(2, chunks=1)


def _raises(function):
    try:
        function()
    except xo.CrossingError:
        return True
    return False


@contextmanager
def default_dtype():
    """Until the end of the block, for the whole process."""
    xo.set_default(dtype="float32")
    try:
        yield
    finally:
        xo.set_default()


MODES = {
    "use": (lambda: xo.use(dtype="float32"), lambda: xo.zeros(1).dtype == np.float32),
    "engines": (lambda: xo.engines("torch"), lambda: xo.explain("matmul", X, X).chosen.startswith("torch")),
    "precision": (lambda: xo.precision(compute="bfloat16"), lambda: float(xo.matmul(X, X)[0, 0]) == 2.0),
    "autocast": (lambda: xo.autocast("float16"), lambda: xo.matmul(X, X).dtype == np.float16),
    "strict": (lambda: xo.strict(transfers=None, computes=0), lambda: _raises(lambda: xo.compute(TASKS))),
    "no_grad": (xo.no_grad, lambda: not torch.is_grad_enabled()),
    "set_default": (default_dtype, lambda: xo.zeros(1).dtype == np.float32),
}
"""For each mode: a block, and a function that says whether it holds where it is called."""


def inside(mode, function):
    """A function called inside the block of a mode. A strict block raises again at its end."""
    found = None
    with suppress(xo.CrossingError), MODES[mode][0]():
        found = function()
    return found


def in_thread(holds):
    found = []
    thread = threading.Thread(target=lambda: found.append(holds()))
    thread.start()
    thread.join()
    return found[0]


def in_pool(holds):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(holds).result()


def in_task(holds):
    async def program():
        async def task():
            await asyncio.sleep(0)
            return holds()

        return await asyncio.create_task(task())

    return asyncio.run(program())


def in_to_thread(holds):
    async def program():
        return await asyncio.to_thread(holds)

    return asyncio.run(program())


def in_other_task(mode):
    """Whether it holds in a task while another task, which opened the block, waits."""

    async def program():
        opened, done = asyncio.Event(), asyncio.Event()

        async def opens():
            with MODES[mode][0]():
                opened.set()
                await done.wait()

        task = asyncio.create_task(opens())
        await opened.wait()
        found = MODES[mode][1]()
        done.set()
        await task
        return found

    return asyncio.run(program())


def in_generator(mode):
    """Whether it holds in the body of a generator that was made inside the block, and is advanced after it."""

    def numbers():
        yield MODES[mode][1]()

    return next(inside(mode, numbers))


def of_generator(mode):
    """Whether it holds for the caller of a generator that is suspended inside the block."""

    def numbers():
        with suppress(xo.CrossingError), MODES[mode][0]():
            yield

    generator = numbers()
    next(generator)
    found = MODES[mode][1]()
    generator.close()
    return found


def after(mode):
    inside(mode, MODES[mode][1])
    return MODES[mode][1]()


def held_in_process(mode):
    return MODES[mode][1]()


def in_process(method, mode):
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(held_in_process, (mode,))


def carried(mode):
    """Whether it holds in calls of a function that was carried inside the block, in a thread and in a process."""
    task = inside(mode, lambda: xo.carried(held_in_process))
    found = {_held(lambda: in_pool(lambda: task(mode)))}
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found.add(_held(lambda: pool.apply(task, (mode,))))
    (holds,) = found
    return holds


def _held(call):
    """What a carried call says. The strict block of the call raises again at its end."""
    try:
        return call()
    except xo.CrossingError:
        return True


PLACES = {
    "functions that the block calls": lambda mode: inside(mode, MODES[mode][1]),
    "a thread that is started in the block, also of `ThreadPoolExecutor`": lambda mode: inside(
        mode, lambda: in_thread(MODES[mode][1]) or in_pool(MODES[mode][1])
    ),
    "`asyncio.to_thread`": lambda mode: inside(mode, lambda: in_to_thread(MODES[mode][1])),
    "a task of asyncio that is created in the block": lambda mode: inside(mode, lambda: in_task(MODES[mode][1])),
    "other tasks, while a task waits in the block": in_other_task,
    "a generator that is made in the block and advanced after it": in_generator,
    "the caller of a generator that is suspended in the block": of_generator,
    "a process that is made in the block by `fork`": lambda mode: inside(mode, lambda: in_process("fork", mode)),
    "a process that is made in the block by `spawn`": lambda mode: inside(mode, lambda: in_process("spawn", mode)),
    "calls of an `xo.carried(f)` that is made in the block, in threads and processes, also after the block": carried,
    "after the block": after,
}
"""For each place, a function that says whether a mode holds there."""

if __name__ == "__main__":
    for place, holds in PLACES.items():
        print(json.dumps([place, {mode: bool(holds(mode)) for mode in MODES}]), flush=True)
