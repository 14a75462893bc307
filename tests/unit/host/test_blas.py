"""BLAS is limited to one thread while any caller needs it; the last caller restores the number."""

import os
import subprocess
import sys
import threading

import pytest
import threadpoolctl

from xarrayops._host import blas

pytestmark = pytest.mark.filterwarnings("error")


def count():
    return max(each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas")


@pytest.fixture(autouse=True)
def two_threads():
    """BLAS with two threads, independent of the machine."""
    with threadpoolctl.threadpool_limits(2, "blas"):
        assert count() == 2
        yield
        assert count() == 2


def test_one_thread_inside_and_restored_afterwards():
    seen = []
    blas.with_one_thread(lambda: seen.append(count()))
    assert seen == [1]
    assert count() == 2


def test_a_limit_set_by_another_thread():
    """With threadpoolctl 3.8, a limit that one thread has set keeps other threads from setting one."""
    threadpoolctl.threadpool_limits(2, "blas")
    seen = []
    thread = threading.Thread(target=lambda: blas.with_one_thread(lambda: seen.append(count())))
    thread.start()
    thread.join()
    assert seen == [1]
    assert count() == 2


def test_nested_calls():
    seen = []

    def outer():
        blas.with_one_thread(lambda: seen.append(count()))
        seen.append(count())

    blas.with_one_thread(outer)
    assert seen == [1, 1]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_inside(error):
    def fail():
        raise error

    with pytest.raises(error):
        blas.with_one_thread(fail)
    assert count() == 2


def test_an_interrupt_while_the_limit_is_set(monkeypatch):
    """The number is restored, although no caller is registered yet."""

    class Interrupting(set):
        def add(self, member):
            raise KeyboardInterrupt

    monkeypatch.setattr(blas, "_holders", Interrupting())
    with pytest.raises(KeyboardInterrupt):
        blas.with_one_thread(lambda: None)
    assert count() == 2


def test_overlapping_calls_of_two_threads():
    """If each caller restored the number that it found, the second would leave BLAS with one thread."""
    inside, first_left, seen = threading.Event(), threading.Event(), []

    def second():
        inside.set()
        assert first_left.wait(10)
        seen.append(count())

    thread = threading.Thread(target=lambda: blas.with_one_thread(second))

    def first():
        thread.start()
        assert inside.wait(10)

    blas.with_one_thread(first)
    seen.append(count())
    first_left.set()
    thread.join()
    assert seen == [1, 1]
    assert count() == 2


def test_concurrent_calls():
    seen = []

    def call():
        for _ in range(100):
            blas.with_one_thread(lambda: seen.append(count()))

    threads = [threading.Thread(target=call) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [1] * 500


FORK = """
import os
import threadpoolctl
from xarrayops._host import blas

def count():
    return max(pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas")

def fork():
    child = os.fork()
    if not child:
        blas.with_one_thread(lambda: None)
        os._exit(count())
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), count())

import numpy
threadpoolctl.threadpool_limits(2)
blas.with_one_thread(fork)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_no_limit():
    """In a separate process, because JAX warns about forks."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True)
    assert done.stdout.split() == ["2", "1"], done.stderr
