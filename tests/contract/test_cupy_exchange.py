"""The exchange hooks of CuPy's backend, in a process with CuPy or its stand-in."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

CASES = {
    "tie keeps an owner as long as any view of the memory": """
        class Owner: pass
        owner = Owner()
        alive = weakref.ref(owner)
        x = cupy.arange(8.0)
        y = hooks["tie"](x, owner)
        assert (y.data.ptr, y.shape, y.strides, y.dtype) == (x.data.ptr, x.shape, x.strides, x.dtype)
        del owner
        view = y[2:4]
        del x, y
        gc.collect()
        assert alive() is not None and view.get().tolist() == [2, 3]
        del view
        gc.collect()
        assert alive() is None
    """,
    "an empty array can be tied": """
        assert hooks["tie"](cupy.zeros((0, 3)), object()).shape == (0, 3)
    """,
    "the queue is the current stream": """
        x = cupy.ones(3)
        assert hooks["queue"](x).stream == cupy.cuda.Stream.null.ptr
        with cupy.cuda.Stream(non_blocking=True) as stream:
            queue = hooks["queue"](x)
            assert queue.stream == stream.ptr != cupy.cuda.Stream.null.ptr
            assert hooks["queue"](x) is queue
        assert not queue.capturing()
        reached = queue.mark()
        stream.synchronize()
        assert reached() is True
    """,
    "managed memory is not exported by DLPack": """
        x = cupy.ones(3)
        assert hooks["memory"](x).exported
        class Managed:
            def __getattr__(self, name):
                return getattr(x, name)
            def __dlpack_device__(self):
                return (13, 0)
        assert not hooks["memory"](Managed()).exported
    """,
    "packed makes a contiguous copy": """
        x = cupy.arange(24.0).reshape(4, 6)
        for view in (x[::2, ::-3], x.T, x[:0], x[0, 0, ...], x):
            packed = hooks["packed"](view)
            assert packed.flags.c_contiguous and packed.device == view.device
            assert (packed == view).all() and not xo.shares_memory(packed, x)
    """,
    "results stay on the device that holds the memory": """
        if cupy.cuda.runtime.getDeviceCount() < 2:
            raise SystemExit
        with cupy.cuda.Device(1):
            x = cupy.arange(6.0)[::-1]
        assert hooks["packed"](x).device.id == 1
        with hooks["exporting"](x):
            assert cupy.cuda.runtime.getDevice() == 1
        moved = hooks["to_device"](x, cupy.cuda.Device(0))
        assert moved.device.id == 0 and moved.get().tolist() == [5, 4, 3, 2, 1, 0]
    """,
}


@pytest.mark.parametrize("case", CASES)
def test_exchange_hooks(case: str, cupy_environment: dict[str, str]) -> None:
    head = "import gc, weakref\nimport cupy, xarrayops as xo\nhooks = xo.backend('cupy').functions\n"
    command = [sys.executable, "-c", head + textwrap.dedent(CASES[case])]
    done = subprocess.run(command, env=cupy_environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
