"""A view stays valid whatever happens to the array that owns its memory. Each case may crash its process."""

import importlib.util
import subprocess
import sys

import pytest

CASES = {
    "jax": {
        "the view waits for the values": """
            f = jax.jit(lambda v: (v @ v @ v @ v @ v) * 0 + 5)
            v = jnp.ones((1000, 1000))
            f(v).block_until_ready()
            assert (xo.convert(f(v), "numpy") == 5).all()
        """,
        "donation of a buffer does not change the view": """
            x = jnp.ones(10**6) + 0
            a = xo.convert(x, "numpy")
            jax.jit(lambda v: v * 7, donate_argnums=0)(x).block_until_ready()
            assert (a == 1).all() and not a.flags.writeable
        """,
        "the hook memory does not block the release of other memory": """
            from xarrayops._host import views
            memory = xo.backend("jax").functions["memory"]
            f = jax.jit(lambda v: jnp.tanh(v).sum())
            for _ in range(2000):
                a = views.aligned((1 << 16,), np.dtype("f4"))
                a[...] = 1
                x = xo.convert(a, "jax")
                del a
                y = f(x)
                del x  # XLA releases its memory, for which it needs the interpreter lock
                assert memory(y) is not None
        """,
        "a deleted array": """
            x = jnp.ones(10**6) + 0
            a = xo.convert(x, "numpy")
            x.delete()
            assert a.sum() == 10**6
        """,
        "a layout that is not C": """
            from jax.experimental.layout import Format, Layout
            sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
            x = jax.device_put(jnp.arange(6.0).reshape(2, 3), Format(Layout(major_to_minor=(1, 0)), sharding))
            for to in ("numpy", np):
                a = xo.convert(x, to)
                assert (a == np.arange(6.0).reshape(2, 3)).all()
                zero_copy = xo.explain("convert", x, to).action == "zero-copy"
                assert zero_copy == xo.shares_memory(x, a)
        """,
    },
    "torch": {
        "a tensor with replaced data": """
            t = torch.ones(10**7)
            a = xo.convert(t, "numpy")
            t.data = torch.zeros(1)
            assert a.sum() == 10**7
        """,
        "a tensor with replaced storage": """
            t = torch.ones(10**7)
            a = xo.convert(t, "numpy")
            t.set_(torch.zeros(1))
            assert a.sum() == 10**7
        """,
        "a tensor that is resized": """
            t = torch.ones(10**6)
            a = xo.convert(t, "numpy")
            try:
                t.resize_(10**8)
            except RuntimeError:
                pass
            assert a.sum() == 10**6
        """,
        "negative strides": """
            x = np.arange(6.0)[::-1]
            namespace = xo.backend("torch").namespace
            for made in (xo.convert(x, "torch"), namespace.from_dlpack(x), namespace.asarray(x)):
                assert made.tolist() == [5, 4, 3, 2, 1, 0]
        """,
        "read-only memory is not written": """
            x = np.ones(3)
            x.flags.writeable = False
            for y in (xo.convert(x, "torch"), xo.backend("torch").namespace.from_dlpack(x)):
                y[0] = 7
                assert x[0] == 1
        """,
    },
}
IMPORTS = {"jax": "import jax, jax.numpy as jnp", "torch": "import torch"}


@pytest.mark.parametrize(("library", "case"), [(lib, case) for lib, cases in CASES.items() for case in cases])
def test_lifetime(library, case):
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    body = "\n".join(line.removeprefix("            ") for line in CASES[library][case].splitlines())
    program = f"import numpy as np, xarrayops as xo\n{IMPORTS[library]}\n{body}"
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False, timeout=600
    )
    assert ended.returncode == 0, f"exit status {ended.returncode}\n{ended.stderr[-2000:]}"
