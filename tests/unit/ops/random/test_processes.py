"""Threads, forked processes and copies of generators."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import xarrayops as xo


def test_threads_share_a_generator_without_repetition():
    rng = xo.random.default_rng(1)
    found, start = [], threading.Barrier(8)

    def work():
        start.wait()
        found.append([rng.bits(2) for _ in range(200)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    together = np.concatenate([np.stack(each) for each in found])
    assert len(np.unique(together[:, 0])) == 1600
    other = xo.random.default_rng(1)
    alone = np.stack([other.bits(2) for _ in range(1600)])
    np.testing.assert_array_equal(np.sort(together[:, 0]), np.sort(alone[:, 0]))


FORK = """
import os, sys, threading
import xarrayops as xo
rngs = [xo.random.default_rng(1), xo.random.default_rng(1, native=True)]
held = rngs[0]._stream._lock  # a thread of the parent may hold it
held.acquire()
for _ in range(3):
    if os.fork() == 0:
        children = [rng.spawn(1)[0] for rng in rngs]
        print(*(int(rng.bits()) for rng in [*rngs, *children]), flush=True)
        os._exit(0)
    os.wait()
held.release()
print(*(int(rng.bits()) for rng in rngs))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_forked_process_repeats_nothing():
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    lines = [line.split() for line in run.stdout.splitlines()]
    assert list(map(len, lines)) == [4, 4, 4, 2]
    assert len({number for line in lines for number in line}) == 14
    assert int(lines[-1][0]) == int(xo.random.default_rng(1).bits())


@pytest.mark.parametrize("library", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
def test_a_copy_continues_with_the_same_numbers(library, duplicate):
    pytest.importorskip(library)
    rng = xo.random.default_rng(3, backend=library, dtype="float32")
    rng.random(2)
    again = duplicate(rng)
    for _ in range(2):
        left, right = (np.asarray(xo.compute(each.random(3))) for each in (rng, again))
        np.testing.assert_array_equal(left, right)
        assert left.dtype == "float32"


def test_a_copy_of_a_native_generator():
    rng = xo.random.default_rng(3, native=True)
    again = pickle.loads(pickle.dumps(rng))
    np.testing.assert_array_equal(rng.random(3), again.random(3))
    np.testing.assert_array_equal(rng.spawn(1)[0].random(3), again.spawn(1)[0].random(3))


def test_a_copy_of_a_generator_of_a_key():
    rng = pickle.loads(pickle.dumps(xo.random.default_rng(xo.random.key(5))))
    np.testing.assert_array_equal(rng.random(3), xo.random.default_rng(5).random(3))
    pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match="copy the key"):  # its words are not computed
        pickle.dumps(xo.random.default_rng(xo.random.key(0, backend="dask")))


def test_no_seed_takes_entropy():
    numbers = {int(xo.random.default_rng().bits()) for _ in range(4)}
    assert len(numbers) == 4
