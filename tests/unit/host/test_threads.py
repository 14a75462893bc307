"""The pool of threads: every task is done once, every error comes out, and nobody waits for ever."""

import os
import signal
import sys
import threading
import time
from collections import deque

import pytest

import xarrayops as xo
from xarrayops._host import threads

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(params=["1", "2", "5"])
def count(request, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", request.param)
    return int(request.param)


PATIENCE_S = 300
"""How long a test waits for what must come: it passes the moment it comes, however slow the machine is."""


def awaited(function):
    """The result of a function; an error where it hangs."""
    result = []

    def call():
        try:
            result.append((function(), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    assert result, f"still running after {PATIENCE_S} s"
    value, error = result[0]
    if error is not None:
        raise error
    return value


def test_every_task_is_done_once(count):
    for n in (0, 1, 2, 3, 50, 1000):
        done = []
        awaited(lambda n=n, done=done: threads.run(done.extend, iter(range(n))))
        assert sorted(done) == list(range(n))


def test_every_thread_works_and_none_more(count):
    """Tasks that wait for one another: as many threads as told are there at the same time."""
    barrier = threading.Barrier(count)
    names = set()

    def work(tasks):
        for _ in tasks:
            barrier.wait(PATIENCE_S)
            names.add(threading.current_thread().name)

    awaited(lambda: threads.run(work, range(4 * count)))
    assert len(names) == count


@pytest.fixture
def dropped(monkeypatch):
    """Set once the tasks that nobody has begun are dropped."""
    dropped = threading.Event()

    class Tasks(deque):
        def clear(self):
            super().clear()
            dropped.set()

    monkeypatch.setattr(threads, "deque", Tasks)
    return dropped


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_error_comes_out_after_all_have_come_to_rest(monkeypatch, dropped, error):
    monkeypatch.setenv("XARRAYOPS_THREADS", "3")
    inside, begun = [], []

    def work(tasks):
        for task in tasks:
            inside.append(task)
            begun.append(task)
            try:
                if task == 0:
                    raise error("told so")
                assert dropped.wait(PATIENCE_S)
            finally:
                inside.remove(task)

    def call():
        with pytest.raises(error, match="told so"):
            threads.run(work, range(200))
        assert inside == []

    awaited(call)
    assert len(begun) <= 3, "what nobody had begun is dropped"
    done = []
    threads.run(done.extend, range(10))  # the pool is as good as before
    assert sorted(done) == list(range(10))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system sends threads no signals")
def test_the_caller_can_be_interrupted(monkeypatch, dropped):
    """An interrupt is sent until it arrives: one that meets a thread on its way into a wait is seen only after it."""
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")
    inside, begun, interrupts = [], [], []
    everyone = threading.Barrier(3)

    def work(tasks):
        for task in tasks:
            inside.append(task)
            begun.append(task)
            everyone.wait(PATIENCE_S)
            assert dropped.wait(PATIENCE_S)
            inside.remove(task)

    def interrupt():
        everyone.wait(PATIENCE_S)
        while not dropped.wait(0.05):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def first_alone(number, frame):
        interrupts.append(number)
        if len(interrupts) == 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, first_alone)
    interrupter = threading.Thread(target=interrupt, daemon=True)
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            threads.run(work, range(1000))
        assert inside == []
        assert len(begun) == 2
        interrupter.join(PATIENCE_S)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system tells no CPUs")
def test_threads_are_bound_only_where_there_is_one_for_each_cpu(monkeypatch):
    everywhere = os.sched_getaffinity(0)

    def places(count):
        monkeypatch.setenv("XARRAYOPS_THREADS", str(count))
        barrier, found = threading.Barrier(count), []

        def work(tasks):
            for _ in tasks:
                barrier.wait(PATIENCE_S)
                found.append(frozenset(os.sched_getaffinity(0)))

        threads.run(work, range(count))
        return set(found)

    n = len(everywhere)
    assert places(n) == {frozenset({cpu}) for cpu in everywhere} or n == 1
    assert places(n + 1) == {frozenset(everywhere)}
    assert os.sched_getaffinity(0) == everywhere, "the caller's own place is left alone"


def test_nested_runs_do_not_wait_for_each_other(count):
    def inner(tasks):
        done.extend(1 for _ in tasks)

    def middle(tasks):
        for _ in tasks:
            threads.run(inner, range(3))

    def outer(tasks):
        for _ in tasks:
            threads.run(middle, range(4))

    done = []
    awaited(lambda: threads.run(outer, range(10)))
    assert len(done) == 120


def test_many_callers_at_once(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "3")
    results = {}

    def call(k):
        done = []
        for _ in range(20):
            threads.run(done.extend, range(k))
        results[k] = done

    callers = [threading.Thread(target=call, args=(k,), daemon=True) for k in range(1, 17)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join(PATIENCE_S)
    assert sorted(results) == list(range(1, 17))
    assert all(sorted(done) == sorted(list(range(k)) * 20) for k, done in results.items())


def test_no_result_is_written_after_the_call(monkeypatch):
    """Even if the system gives fewer threads than asked for, those that there are have come to rest."""
    monkeypatch.setenv("XARRAYOPS_THREADS", "4")
    real, inside = threads._pool(3, frozenset()), []

    class Scarce:
        given = 0

        def submit(self, *args):
            self.given += 1
            if self.given > 1:
                raise RuntimeError("can't start new thread")
            return real.submit(*args)

    def work(tasks):
        for task in tasks:
            inside.append(task)
            time.sleep(0.005)  # so that a caller who does not wait comes first
            inside.remove(task)

    for _ in range(10):
        scarce = Scarce()
        monkeypatch.setattr(threads, "_pool", lambda count, cpus, scarce=scarce: scarce)
        threads.run(work, range(5))
        assert inside == []
        assert scarce.given == 2


def test_systems_that_bind_no_threads(run):
    code = """
import os
for name in ("sched_setaffinity", "sched_getaffinity"):
    vars(os).pop(name, None)
from xarrayops._host import threads
for _ in range(3):
    done = []
    threads.run(done.extend, range(100))
    assert sorted(done) == list(range(100))
print(len(threading.enumerate()) > 1)
"""
    assert run("import threading" + code, XARRAYOPS_THREADS="2") == "True"


def test_a_share_that_begins_late_finds_nothing(monkeypatch):
    """A pool that gives no thread keeps what it was given, and may run it when the call is over."""
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")
    kept = []

    class Full:
        def submit(self, share):
            kept.append(share)
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "_pool", lambda count, cpus: Full())
    done, calls = [], []

    def work(tasks):
        calls.append(1)
        done.extend(tasks)

    threads.run(work, range(10))
    assert sorted(done) == list(range(10))
    kept[0]()
    assert len(calls) == 1


@pytest.mark.parametrize("asked", ["0", "-1", "two", "1.5", "²", "1 2", "\u0660"])
def test_what_is_no_number_of_threads(monkeypatch, asked):
    monkeypatch.setenv("XARRAYOPS_THREADS", asked)
    with pytest.raises(xo.XArrayOpsError, match=r"XARRAYOPS_THREADS=.*Instead"):
        threads.run(list, range(3))


def test_the_number_of_threads(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "7")
    assert threads.thread_count() == 7
    for nothing in ("", None):
        monkeypatch.delenv("XARRAYOPS_THREADS") if nothing is None else monkeypatch.setenv("XARRAYOPS_THREADS", nothing)
        assert 1 <= threads.thread_count() <= os.cpu_count()


FORK = """
import os, threading, warnings
from xarrayops._host import threads
def all_done():
    done, barrier = [], threading.Barrier(3)
    def work(tasks):  # none goes on without the two others
        for task in tasks:
            barrier.wait(300)
            done.append(task)
    threads.run(work, range(51))
    return sorted(done) == list(range(51))
assert all_done()
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads, which is the point
child = os.fork()
if child == 0:
    os._exit(0 if all_done() else 1)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), all_done())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork(run):
    """The child has none of its parent's threads, and makes its own."""
    assert run(FORK, XARRAYOPS_THREADS="3") == "0 True"


@pytest.mark.parametrize("before", ["", "threads.run(list, range(9))"], ids=["first use", "pool stands"])
def test_while_the_interpreter_ends(run, before):
    code = f"""
import atexit
from xarrayops._host import threads
{before}
def last():
    done = []
    threads.run(done.extend, range(100))
    print(sorted(done) == list(range(100)))
atexit.register(last)
"""
    assert run(code, XARRAYOPS_THREADS="3") == "True"


def test_an_idle_pool_does_not_keep_the_interpreter(run):
    code = "from xarrayops._host import threads; threads.run(list, range(9)); print('over')"
    assert run(code, XARRAYOPS_THREADS="4") == "over"


def test_switching_often_changes_nothing(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "5")
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            done = []
            threads.run(done.extend, range(200))
            assert sorted(done) == list(range(200))
    finally:
        sys.setswitchinterval(interval)
