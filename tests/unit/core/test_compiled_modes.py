"""Compiled functions follow the modes: jax.jit and torch.compile trace them once more for each mode."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest

import xarrayops as xo

CODES = {
    "divide": lambda x: xo.divide(x, 2),
    "mean": lambda x: xo.mean(x),
    "zeros": lambda x: xo.add(xo.zeros(3, like=x), xo.ones(3, backend=xo.backend(x).name)),
    "place": lambda x: xo.zeros(3),
}
ORDERS = ((None, "float64", None, "float16"), ("float64", None, "float16"))


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        yield jax


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    torch._dynamo.reset()
    return torch


@pytest.fixture(params=["jax", "torch", "torch fullgraph"])
def compiled(request):
    """The name of a library, one of its integer arrays, and its compiler."""
    library, _, full = request.param.partition(" ")
    native = request.getfixturevalue(library)
    x = xo.arange(4, backend=library)
    if library == "jax":
        return library, x, native.jit
    return library, x, lambda code: native.compile(code, backend="eager", fullgraph=bool(full))


def dtype_of(x):
    return xo.backend(x).functions["dtype_name"](x.dtype)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("code", CODES)
def test_each_mode_has_its_own_code(compiled, code, order):
    library, x, compile_ = compiled
    function = compile_(CODES[code])
    seen, expected = [], []
    for dtype in order:
        with xo.use(library, dtype=dtype):
            seen.append(dtype_of(function(x)))
            expected.append(dtype_of(CODES[code](x)))
    assert seen == expected
    assert len(set(seen)) > 1


def test_blocks_inside_of_blocks(compiled):
    library, x, compile_ = compiled
    function = compile_(CODES["divide"])
    with xo.use(library, dtype="float16"):
        with xo.use(dtype="float64"):
            assert dtype_of(function(x)) == "float64"
        assert dtype_of(function(x)) == "float16"
        with pytest.raises(ZeroDivisionError), xo.use(dtype="float64"):
            raise ZeroDivisionError
        assert dtype_of(function(x)) == "float16"


def test_a_thread_without_a_block(compiled):
    library, x, compile_ = compiled
    function = compile_(CODES["divide"])
    seen = []

    def call():
        with xo.use(library, dtype="float16"):
            seen.append(dtype_of(function(x)))
        assert dtype_of(function(x)) == dtype_of(CODES["divide"](x))
        seen.append("no block")

    with xo.use(library, dtype="float64"):
        assert dtype_of(function(x)) == "float64"
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        assert dtype_of(function(x)) == "float64"
    assert seen == ["float16", "no block"]


def test_set_default(compiled):
    library, x, compile_ = compiled
    functions = {name: compile_(code) for name, code in CODES.items()}
    try:
        for dtype in ("float64", "float16", "float64"):
            xo.set_default(library, dtype=dtype)
            assert {name: dtype_of(function(x)) for name, function in functions.items()} == dict.fromkeys(CODES, dtype)
    finally:
        xo.set_default()
    del functions["place"]
    for name, function in functions.items():
        assert dtype_of(function(x)) == dtype_of(CODES[name](x))


def test_functions_are_traced_again_only_for_what_they_can_observe(jax):
    traces = []

    @jax.jit
    def function(x):
        traces.append(x)
        return x + 1

    x = jax.numpy.arange(3)
    with xo.engines("torch"):
        function(x)
    with xo.use("numpy"):  # as outside of the block
        function(x)
    function(x)
    assert len(traces) == 1
    with xo.use(dtype="float16"):
        function(x)
        with xo.use("numpy"):
            function(x)
    assert len(traces) == 2


def test_transformations_alone_need_no_mode(jax):
    x = xo.arange(4, backend="jax")
    with xo.use(dtype="float16"):
        assert jax.vmap(CODES["divide"])(x).dtype == "float16"
        assert jax.grad(lambda y: xo.sum(xo.multiply(y, xo.mean(x))))(xo.ones(3, like=x)).shape == (3,)
        _, rows = jax.lax.scan(lambda carry, row: (carry, xo.divide(row, 2)), 0, x)
        assert rows.dtype == "float16"


def test_a_block_inside_of_the_function(jax):
    def code(x):
        with xo.use(dtype="float16"):
            return xo.divide(x, 2)

    function = jax.jit(code)
    x = xo.arange(4, backend="jax")
    assert function(x).dtype == "float16"
    with xo.use(dtype="float64"):
        assert function(x).dtype == "float16"
    assert function(x).dtype == "float16"


def test_a_function_compiled_in_another_task(jax):
    """JAX's contexts belong to threads. The block of another task is refused while a function is compiled."""
    x = xo.arange(4, backend="jax")
    opened, done = asyncio.Event(), asyncio.Event()

    async def first():
        with xo.use(dtype="float64"):
            opened.set()
            await done.wait()

    async def second():
        with xo.use(dtype="float16"):
            task = asyncio.ensure_future(first())
            await opened.wait()
            try:
                assert xo.divide(x, 2).dtype == "float16"  # not compiled
                with pytest.raises(RuntimeError, match=r"Instead: .* open the block inside the function"):
                    jax.jit(CODES["divide"])(x)
            finally:
                done.set()
                await task

    asyncio.run(second())


def test_jax_is_imported_in_the_block():
    pytest.importorskip("jax")
    program = """
import xarrayops as xo
with xo.use(dtype="float16"):
    import jax
    x = jax.numpy.arange(4)
    assert xo.divide(x, 2).dtype == "float16"
    try:
        jax.jit(lambda x: xo.divide(x, 2))(x)
    except RuntimeError as error:
        print(error)
with xo.use(dtype="float16"):
    print(jax.jit(lambda x: xo.divide(x, 2))(x).dtype)
print(jax.jit(lambda x: xo.divide(x, 2))(x).dtype)
"""
    environment = os.environ | {"JAX_ENABLE_X64": "0"}
    run = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    error, *dtypes = run.stdout.splitlines()
    assert "the block was opened before jax was imported" in error
    assert dtypes == ["float16", "float32"]
