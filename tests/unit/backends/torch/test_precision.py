"""PyTorch's switches of TF32 and of sums of half types: set for one product of a block, and then restored."""

import asyncio
import random
import shutil
import threading
import warnings
from contextlib import nullcontext, suppress

import numpy as np
import pytest

torch = pytest.importorskip("torch", exc_type=ImportError)

from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from xarrayops_backends.torch import _precision  # noqa: E402

import xarrayops as xo  # noqa: E402
from xarrayops.errors import Unsupported  # noqa: E402

PLACES = [
    ("generic", "all"),
    *((backend, op) for backend in ("cuda", "mkldnn") for op in ("all", "matmul", "conv", "rnn")),
]
REDUCED = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
OLDER = {
    "float32_matmul_precision": torch.get_float32_matmul_precision,
    "matmul.allow_tf32": lambda: torch.backends.cuda.matmul.allow_tf32,
    "cudnn.allow_tf32": lambda: torch.backends.cudnn.allow_tf32,
    "reduced": lambda: [
        getattr(torch.backends.cuda.matmul, f"{name}{end}", None) for name in REDUCED for end in ("", "_split_k")
    ],
}


def set_newer(place, value):
    torch._C._set_fp32_precision_setter(*place, value)


def newer(place):
    return torch._C._get_fp32_precision_getter(*place)


def answer(ask):
    try:
        return ask()
    except RuntimeError:
        return "raises"


def shown():
    """What all switches show, by the newer and the older names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {place: newer(place) for place in PLACES} | {name: answer(ask) for name, ask in OLDER.items()}


def taken():
    """Which switches take their value from others: what all show while each of the others is changed."""
    found = []
    for place in (("generic", "all"), ("cuda", "all"), ("mkldnn", "all")):
        before = newer(place)
        if place[0] != "generic" and before == newer(("generic", "all")):
            continue  # it may take its value itself, and writing would change that
        for value in ("ieee", "tf32"):
            set_newer(place, value)
            found.append([newer(each) for each in PLACES])
        set_newer(place, before)
    return found


def state():
    return shown(), taken()


def start():
    """The switches as in a new process."""
    torch.set_float32_matmul_precision("highest")
    for place in PLACES:
        set_newer(place, "none")
    torch.backends.cudnn.allow_tf32 = True
    for name in REDUCED:
        setattr(torch.backends.cuda.matmul, name, True)


@pytest.fixture(autouse=True)
def switches():
    start()
    yield
    start()


def change_a_switch(choose):
    kind = choose.randrange(6)
    if kind == 0:
        torch.set_float32_matmul_precision(choose.choice(["highest", "high", "medium"]))
    elif kind == 1:
        torch.backends.cuda.matmul.allow_tf32 = choose.random() < 0.5
    elif kind == 2:
        torch.backends.cudnn.allow_tf32 = choose.random() < 0.5
    elif kind == 3:
        setattr(torch.backends.cuda.matmul, choose.choice(REDUCED), choose.choice([True, False, (False, False)]))
    else:
        set_newer(choose.choice(PLACES), choose.choice(["none", "ieee", "tf32"]))


class Recorder(TorchDispatchMode):
    """What the switches show when a product is launched."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.seen = kind, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "convolution" in str(function):
            self.seen.append(newer((self.kind, "conv")))
        elif "mm" in str(function):
            reduced = [getattr(torch.backends.cuda.matmul, name) for name in REDUCED]
            self.seen.append((newer((self.kind, "matmul")), any(reduced)))
        return function(*args, **(kwargs or {}))


class Failure(Exception):
    pass


X = torch.ones((3, 3))
BLOCKS = [
    {"products": "ieee"},
    {"products": "tf32"},
    {"compute": "bfloat16"},
    {"compute": "float16", "output": "float16"},
    {"accumulate": "float64"},
]


def run_blocks(choose, x, depth=0):
    """Products in nested blocks, some of which fail."""
    with suppress(Failure, ValueError, RuntimeError), xo.precision(**choose.choice(BLOCKS)):
        xo.matmul(x, x)
        places = choose.choice([_precision._CUDA, _precision._CPU])
        with _precision._switched(places, choose.choice(["ieee", "tf32"]), nullcontext()):
            xo.matmul(x, x)
            if choose.random() < 0.3:
                raise Failure
        if choose.random() < 0.2:
            xo.matmul(x, x[:2])  # fails in PyTorch
        if depth < 2 and choose.random() < 0.5:
            run_blocks(choose, x, depth + 1)
        if choose.random() < 0.2:
            raise Failure


@pytest.mark.parametrize("seed", range(10))
def test_every_switch_is_as_it_was(seed):
    """A hundred random sequences for each seed: writes to switches by old and new names, then blocks."""
    choose = random.Random(seed)
    with FakeTensorMode() as mode:
        on_device = torch.empty((3, 3), device="cuda")
    for _ in range(100):
        start()
        for _ in range(choose.randrange(6)):
            change_a_switch(choose)
        before = state()
        with mode:
            run_blocks(choose, on_device)
        run_blocks(choose, X)
        assert state() == before


@pytest.mark.parametrize("seed", range(3))
def test_every_switch_is_as_it_was_after_threads_and_tasks(seed):
    choose = random.Random(seed)
    for _ in range(5):
        start()
        for _ in range(4):
            change_a_switch(choose)
        before = state()
        seeds = [choose.randrange(1000) for _ in range(4)]
        threads = [threading.Thread(target=run_blocks, args=(random.Random(each), X)) for each in seeds]

        async def task(each):
            with xo.precision(**random.Random(each).choice(BLOCKS)):
                xo.matmul(X, X)
                await asyncio.sleep(0)
                run_blocks(random.Random(each), X)

        async def tasks(seeds=seeds, task=task):
            await asyncio.gather(*map(task, seeds))

        for thread in threads:
            thread.start()
        asyncio.run(tasks())
        for thread in threads:
            thread.join()
        assert state() == before


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"products": "ieee"}, "ieee"),
        ({"products": "tf32"}, "tf32"),
        ({"compute": "bfloat16", "output": "float32"}, "tf32"),  # exact, because operands have 8 significant bits
        ({"accumulate": "float64"}, "ieee"),
    ],
)
@pytest.mark.parametrize("user", ["highest", "high"])
def test_products_on_cuda_find_the_switch_that_they_need(policy, expected, user):
    torch.set_float32_matmul_precision(user)
    with FakeTensorMode():
        x = torch.empty((3, 3), device="cuda")
        with Recorder("cuda") as recorder:
            xo.matmul(x, x)
            with xo.precision(**policy):
                xo.matmul(x, x)
            xo.matmul(x, x)
    outside = (recorder.seen[0][0], True)
    assert recorder.seen == [outside, (expected, False), outside]


@pytest.mark.parametrize("verb", ["conv1d", "conv2d", "conv3d"])
@pytest.mark.parametrize("user", ["none", "ieee", "tf32"])
def test_convolutions_on_cuda_are_ieee_except_in_a_block_that_allows_tf32(verb, user):
    """By default PyTorch convolves float32 in TF32 on CUDA, and multiplies matrices as IEEE float32."""
    set_newer(("generic", "all"), user)
    before = state()
    function, ndim = getattr(xo, verb), int(verb[-2]) + 2
    with FakeTensorMode():
        x, half = (torch.empty((3,) * ndim, device="cuda", dtype=t) for t in (torch.float32, torch.float16))
        with Recorder("cuda") as recorder:
            function(x, x)
            for products in ("tf32", "ieee"):
                with xo.precision(products=products):
                    function(x, x)
                    xo.matmul(x, x)
                    function(x, x)
            function(half, half)
    blocks = [["tf32", ("tf32", False), "tf32"], ["ieee", ("ieee", False), "ieee"]]
    assert recorder.seen == ["ieee", *blocks[0], *blocks[1], newer(("cuda", "conv"))]
    assert state() == before


@pytest.mark.parametrize("products", ["ieee", "tf32"])
@pytest.mark.parametrize(
    "places", [[("generic", "all")], [("cuda", "all")], [("generic", "all"), ("cuda", "all")], [("cuda", "matmul")]]
)
@pytest.mark.parametrize("user", ["ieee", "tf32"])
def test_no_product_makes_those_of_other_threads_less_precise(monkeypatch, products, places, user):
    """A switch of the whole library is never TF32 while the program's value is IEEE."""
    for place in places:
        set_newer(place, user)
    program, write, seen = {place: newer(place) for place in PLACES}, _precision._set_value, []

    def set_value(backend, name, value):
        write(backend, name, value)
        seen.extend(
            (place, newer(place)) for place in PLACES if place[1] != "matmul" and place[1] not in ("conv", "rnn")
        )

    monkeypatch.setattr(_precision, "_set_value", set_value)
    with FakeTensorMode():
        x = torch.empty((3, 3), device="cuda")
        with xo.precision(products=products):
            xo.matmul(x, x)
    assert not [(place, value) for place, value in seen if value == "tf32" != program[place]]


def test_products_on_the_cpu_are_ieee_where_a_user_allows_less():
    torch.set_float32_matmul_precision("medium")
    with Recorder("mkldnn") as recorder:
        for products in ("ieee", "tf32"):
            with xo.precision(products=products):
                xo.matmul(X, X)
        xo.matmul(X, X)
    assert [found for found, _ in recorder.seen] == ["ieee", "ieee", "bf16"]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_policy_in_autocast_of_pytorch(compiled):
    """PyTorch's autocast would round the operands of the product once more."""
    torch._dynamo.reset()
    x = torch.full((3, 3), 1 + 2.0**-12)
    product = torch.compile(xo.matmul, backend="eager", fullgraph=True) if compiled else xo.matmul
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with xo.precision():
            y = product(x, x)
        assert xo.matmul(x, x).dtype == torch.bfloat16
    torch.testing.assert_close(y, torch.full((3, 3), 3 * (1 + 2.0**-12) ** 2), rtol=1e-6, atol=0)


def test_compiled_code_needs_the_switch_in_the_program():
    torch._dynamo.reset()
    torch.set_float32_matmul_precision("medium")
    product = torch.compile(lambda x: xo.matmul(x, x), backend="eager", fullgraph=True)
    with xo.precision(), pytest.raises(Exception, match="compiled code multiplies on cpu"):
        product(X)
    torch._dynamo.reset()
    torch.set_float32_matmul_precision("highest")
    with xo.precision():
        assert product(X).dtype == torch.float32


def test_an_environment_that_forces_tf32(monkeypatch):
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    with FakeTensorMode():
        x = torch.empty((3, 3), device="cuda")
        with xo.precision(), pytest.raises(Unsupported, match="NVIDIA_TF32_OVERRIDE=1 forces TF32"):
            xo.matmul(x, x)
        with xo.precision(products="tf32"):
            xo.matmul(x, x)


@pytest.mark.skipif(
    shutil.which("g++") is None and shutil.which("clang++") is None, reason="inductor needs a C++ compiler"
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_inductor_keeps_the_rounding():
    """Without an operator for casts, Inductor would compute them in float32."""
    torch._dynamo.reset()
    x = torch.from_numpy(np.random.default_rng(0).random((16, 16), dtype=np.float32))
    product = torch.compile(lambda a: xo.matmul(a, a), fullgraph=True)
    with xo.precision(compute="bfloat16", output="float32"):
        compiled, eager = product(x), xo.matmul(x, x)
    torch.testing.assert_close(compiled, eager, rtol=1e-6, atol=0)
    assert (eager - xo.matmul(x, x)).abs().max() > 1e-4
