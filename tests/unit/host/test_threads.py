"""The thread pool: every task runs once, every error is raised, and no call waits for ever."""

import os
import signal
import sys
import threading
import time

import pytest

import xarrayops as xo
from xarrayops._host import threads

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(params=["1", "2", "5"])
def count(request, monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", request.param)
    return int(request.param)


TIMEOUT_S = 300
"""The time limit for events that must occur; long, so that tests also pass on slow machines."""


def with_timeout(function):
    """The result of a function; raises if it does not return in time."""
    result = []

    def call():
        try:
            result.append((function(), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(TIMEOUT_S)
    assert result, f"still running after {TIMEOUT_S} s"
    value, error = result[0]
    if error is not None:
        raise error
    return value


def test_every_task_runs_once(count):
    for n in (0, 1, 2, 3, 50, 1000):
        done = []
        with_timeout(lambda n=n, done=done: threads.run(done.extend, iter(range(n))))
        assert sorted(done) == list(range(n))


def test_the_number_of_threads_that_work(count):
    """The tasks wait for each other, so that they need exactly ``count`` threads at the same time."""
    barrier = threading.Barrier(count)
    names = set()

    def work(tasks):
        for _ in tasks:
            barrier.wait(TIMEOUT_S)
            names.add(threading.current_thread().name)

    with_timeout(lambda: threads.run(work, range(4 * count)))
    assert len(names) == count


@pytest.fixture
def dropped(monkeypatch):
    """An event that is set when the tasks that have not started are dropped."""
    dropped = threading.Event()

    class Tasks(list):
        def clear(self):
            super().clear()
            dropped.set()

    monkeypatch.setattr(threads, "list", Tasks, raising=False)
    return dropped


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_error_is_raised_after_all_threads_have_stopped(monkeypatch, dropped, error):
    monkeypatch.setenv("XARRAYOPS_THREADS", "3")
    inside, started = [], []

    def work(tasks):
        for task in tasks:
            inside.append(task)
            started.append(task)
            try:
                if task == 0:
                    raise error("as intended")
                assert dropped.wait(TIMEOUT_S)
            finally:
                inside.remove(task)

    def call():
        with pytest.raises(error, match="as intended"):
            threads.run(work, range(200))
        assert inside == []

    with_timeout(call)
    assert len(started) <= 3, "tasks that have not started must be dropped"
    done = []
    threads.run(done.extend, range(10))  # the pool still works
    assert sorted(done) == list(range(10))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system cannot send signals to threads")
def test_the_caller_can_be_interrupted(monkeypatch, dropped):
    """The signal is repeated, because a thread that is about to wait handles a signal only after the wait."""
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")
    inside, started, interrupts = [], [], []
    everyone = threading.Barrier(3)

    def work(tasks):
        for task in tasks:
            inside.append(task)
            started.append(task)
            try:
                everyone.wait(TIMEOUT_S)
                assert dropped.wait(TIMEOUT_S)
            finally:
                inside.remove(task)

    def interrupt():
        everyone.wait(TIMEOUT_S)
        while not dropped.wait(0.05):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def raise_once(number, frame):
        interrupts.append(number)
        if len(interrupts) == 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, raise_once)
    interrupter = threading.Thread(target=interrupt, daemon=True)
    interrupter.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            threads.run(work, range(1000))
        assert inside == []
        assert len(started) == 2
        interrupter.join(TIMEOUT_S)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not report CPU affinity")
def test_threads_are_pinned_only_if_there_is_one_for_each_cpu(monkeypatch):
    everywhere = os.sched_getaffinity(0)

    def affinities(count):
        monkeypatch.setenv("XARRAYOPS_THREADS", str(count))
        barrier, found = threading.Barrier(count), []

        def work(tasks):
            for _ in tasks:
                barrier.wait(TIMEOUT_S)
                found.append(frozenset(os.sched_getaffinity(0)))

        threads.run(work, range(count))
        return set(found)

    n = len(everywhere)
    found = affinities(n)
    assert found - {frozenset({cpu}) for cpu in everywhere} == {frozenset(everywhere)}, "of the caller, which works too"
    assert len(found) == n
    assert affinities(n + 1) == {frozenset(everywhere)}
    assert os.sched_getaffinity(0) == everywhere, "the caller's own affinity must not change"


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
    with_timeout(lambda: threads.run(outer, range(10)))
    assert len(done) == 120


def test_concurrent_callers(monkeypatch):
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
        thread.join(TIMEOUT_S)
    assert sorted(results) == list(range(1, 17))
    assert all(sorted(done) == sorted(list(range(k)) * 20) for k, done in results.items())


def test_no_result_is_written_after_the_call(monkeypatch):
    """Also if the system starts fewer threads than requested, all of them have stopped."""
    monkeypatch.setenv("XARRAYOPS_THREADS", "4")
    real, inside = threads._pool(3, frozenset()), []

    class LimitedPool:
        submitted = 0

        def submit(self, *args):
            self.submitted += 1
            if self.submitted > 1:
                raise RuntimeError("can't start new thread")
            return real.submit(*args)

    def work(tasks):
        for task in tasks:
            inside.append(task)
            time.sleep(0.005)  # a caller that does not wait would return first
            inside.remove(task)

    for _ in range(10):
        limited = LimitedPool()
        monkeypatch.setattr(threads, "_pool", lambda count, cpus, limited=limited: limited)
        threads.run(work, range(5))
        assert inside == []
        assert limited.submitted == 2


def test_systems_without_thread_affinity(run):
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


def test_a_share_that_starts_after_the_call_does_nothing(monkeypatch):
    """A pool without a free thread may run a submitted share after the call has ended."""
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


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", "²", "1 2", "\u0660"])
def test_invalid_numbers_of_threads(monkeypatch, number):
    monkeypatch.setenv("XARRAYOPS_THREADS", number)
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
    def work(tasks):  # each waits for the two others
        for task in tasks:
            barrier.wait(300)
            done.append(task)
    threads.run(work, range(51))
    return sorted(done) == list(range(51))
assert all_done()
warnings.simplefilter("ignore", DeprecationWarning)  # about forks with threads, which is what this tests
child = os.fork()
if child == 0:
    os._exit(0 if all_done() else 1)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), all_done())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_after_a_fork(run):
    """The child does not have its parent's threads and starts its own."""
    assert run(FORK, XARRAYOPS_THREADS="3") == "0 True"


@pytest.mark.parametrize("before", ["", "threads.run(list, range(9))"], ids=["first use", "pool exists"])
def test_use_while_the_interpreter_exits(run, before):
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


def test_an_idle_pool_does_not_keep_the_interpreter_alive(run):
    code = "from xarrayops._host import threads; threads.run(list, range(9)); print('over')"
    assert run(code, XARRAYOPS_THREADS="4") == "over"


def test_frequent_thread_switches(monkeypatch):
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


def test_the_caller_takes_a_share(monkeypatch):
    monkeypatch.setenv("XARRAYOPS_THREADS", "2")
    names, both = [], threading.Barrier(2)

    def work(tasks):
        names.append(threading.current_thread())
        for _ in tasks:
            both.wait(TIMEOUT_S)

    with_timeout(lambda: threads.run(work, range(8)))
    assert len(names) == 2
    assert sum(each.name.startswith("xarrayops") for each in names) == 1
