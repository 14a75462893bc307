"""Our equivalents of PyTorch's names. Imported only when a name is missing.

``docs/guides/from-pytorch.md`` shows the same table. A test runs each line, and compares ours with PyTorch's.

In the examples, x and y are matrices of 3 rows and 4 columns, v and w are vectors of 4, s is sorted and positive, a and
b are square matrices of 3, z is complex, i is 3 integers, j has 3 rows and 2 columns of integers, mask is boolean,
images has the shape (2, 3, 4, 4), q is queries of the shape (1, 2, 5, 8), h is a NumPy array, and f is a function.
"""

from __future__ import annotations

RNG = "xo.random.default_rng(0, like=x)"
ROWS = "xo.arange(3, like=j)[:, None]"

LINES: dict[str, tuple[str, str] | tuple[str, str, str]] = {
    # shapes
    "cat": ("torch.cat([x, y], dim=1)", "xo.concat([x, y], axis=1)"),
    "chunk": ("torch.chunk(x, 2, dim=1)", "xo.split(x, 2, axis=1)", "for equal parts"),
    "clone": ("torch.clone(x)", "xo.asarray(x, copy=True)"),
    "expand": ("x.expand(2, 3, 4)", "xo.broadcast_to(x, (2, 3, 4))"),
    "flatten": ("torch.flatten(x)", "xo.reshape(x, (-1,))"),
    "movedim": ("torch.movedim(x, 0, 1)", "xo.moveaxis(x, 0, 1)"),
    "narrow": ("torch.narrow(x, 1, 1, 2)", "x[:, 1:3]"),
    "numel": ("torch.numel(x)", "math.prod(x.shape)"),
    "permute": ("torch.permute(x, (1, 0))", "xo.permute_dims(x, (1, 0))"),
    "repeat_interleave": ("torch.repeat_interleave(x, 2, dim=0)", "xo.repeat(x, 2, axis=0)", "x.repeat is xo.tile"),
    "t": ("torch.t(x)", "xo.matrix_transpose(x)"),
    "transpose": ("torch.transpose(x, 0, 1)", "xo.moveaxis(x, (0, 1), (1, 0))"),
    "unbind": ("torch.unbind(x)", "xo.unstack(x)"),
    "unflatten": ("torch.unflatten(x, 1, (2, 2))", "xo.reshape(x, (3, 2, 2))"),
    "unfold": ("x.unfold(1, 2, 1)", "xo.sliding_window_view(x, 2, axis=1)", "for other steps, slice the result"),
    "unsqueeze": ("torch.unsqueeze(x, 0)", "xo.expand_dims(x, axis=0)"),
    "view": ("x.view(4, 3)", "xo.reshape(x, (4, 3))", "it copies where a view is impossible"),
    # elements by index
    "gather": ("torch.gather(x, 1, j)", "xo.take_along_axis(x, j, axis=1)"),
    "index_add": ("torch.index_add(x, 0, i, y)", "xo.at(x)[i, :].add(y)"),
    "index_copy": ("torch.index_copy(x, 0, i, y)", "xo.at(x)[i, :].set(y)"),
    "index_fill": ("torch.index_fill(x, 0, i, 5.0)", "xo.at(x)[i, :].set(5.0)"),
    "index_select": ("torch.index_select(x, 1, i)", "xo.take(x, i, axis=1)"),
    "masked_fill": ("torch.masked_fill(x, mask, 5.0)", "xo.where(mask, 5.0, x)"),
    "masked_select": ("torch.masked_select(x, mask)", "x[mask]"),
    "scatter": ("torch.scatter(x, 1, j, 5.0)", f"xo.at(x)[{ROWS}, j].set(5.0)"),
    "scatter_add": ("torch.scatter_add(x, 1, j, y)", f"xo.at(x)[{ROWS}, j].add(y[:, :2])"),
    # arithmetic
    "addmm": ("torch.addmm(a, a, b)", "a + xo.matmul(a, b)"),
    "aminmax": ("torch.aminmax(x)", "(xo.min(x), xo.max(x))"),
    "bmm": ("torch.bmm(images[0], images[1])", "xo.matmul(images[0, ...], images[1, ...])"),
    "bucketize": ("torch.bucketize(v, s)", "xo.searchsorted(s, v)"),
    "cdist": ("torch.cdist(x, y)", "xo.linalg.vector_norm(x[:, None, :] - y[None, :, :], axis=-1)"),
    "clamp": ("torch.clamp(x, 0, 1)", "xo.clip(x, 0, 1)"),
    "clamp_max": ("torch.clamp_max(x, 1)", "xo.minimum(x, 1)"),
    "clamp_min": ("torch.clamp_min(x, 0)", "xo.maximum(x, 0)"),
    "div": ("torch.div(x, y)", "xo.divide(x, y)"),
    "eq": ("torch.eq(x, y)", "xo.equal(x, y)"),
    "frac": ("torch.frac(x)", "x - xo.trunc(x)"),
    "ge": ("torch.ge(x, y)", "xo.greater_equal(x, y)"),
    "ger": ("torch.ger(v, w)", "xo.linalg.outer(v, w)"),
    "gt": ("torch.gt(x, y)", "xo.greater(x, y)"),
    "histc": ("torch.histc(v, 4, -2.0, 2.0)", "xo.histogram(v, 4, range=(-2.0, 2.0))[0]", "the counts are integers"),
    "inverse": ("torch.inverse(a)", "xo.linalg.inv(a)"),
    "kthvalue": ("torch.kthvalue(v, 2)[0]", "xo.sort(v)[1]", "torch counts from 1"),
    "le": ("torch.le(x, y)", "xo.less_equal(x, y)"),
    "lerp": ("torch.lerp(x, y, 0.25)", "x + 0.25 * (y - x)"),
    "logdet": ("torch.logdet(a)", "xo.linalg.slogdet(a)[1]", "the result is not NaN for a negative determinant"),
    "lt": ("torch.lt(x, y)", "xo.less(x, y)"),
    "mm": ("torch.mm(a, b)", "xo.matmul(a, b)"),
    "mul": ("torch.mul(x, y)", "xo.multiply(x, y)"),
    "mv": ("torch.mv(x, v)", "xo.matmul(x, v)"),
    "ne": ("torch.ne(x, y)", "xo.not_equal(x, y)"),
    "neg": ("torch.neg(x)", "xo.negative(x)"),
    "norm": ("torch.norm(x)", "xo.linalg.vector_norm(x)"),
    "pinverse": ("torch.pinverse(a)", "xo.linalg.pinv(a)"),
    "rsqrt": ("torch.rsqrt(s)", "1 / xo.sqrt(s)"),
    "std_mean": ("torch.std_mean(x)", "(xo.std(x, correction=1), xo.mean(x))"),
    "sub": ("torch.sub(x, y)", "xo.subtract(x, y)"),
    "var_mean": ("torch.var_mean(x)", "(xo.var(x, correction=1), xo.mean(x))"),
    # torch.nn.functional
    "adaptive_avg_pool2d": ("F.adaptive_avg_pool2d(images, 1)", "xo.mean(images, axis=(-2, -1), keepdims=True)"),
    "cosine_similarity": (
        "F.cosine_similarity(x, y, dim=1)",
        "xo.vecdot(x, y) / (xo.linalg.vector_norm(x, axis=1) * xo.linalg.vector_norm(y, axis=1))",
    ),
    "cross_entropy": (
        "F.cross_entropy(x, i)",
        "xo.mean(xo.logsumexp(x, axis=1) - xo.take_along_axis(x, i[:, None], axis=1)[:, 0])",
    ),
    "dropout": (
        "F.dropout(x, 0.1)",
        f"xo.where({RNG}.random(x.shape) < 0.9, x / 0.9, 0.0)",
        "with a generator that the program keeps",
    ),
    "elu": ("F.elu(x)", "xo.where(x > 0, x, xo.expm1(xo.minimum(x, 0)))"),
    "embedding": ("F.embedding(i, x)", "xo.take(x, i, axis=0)"),
    "gelu": ("F.gelu(x)", "x * (1 + xo.erf(x / 2**0.5)) / 2"),
    "interpolate": (
        "F.interpolate(images, scale_factor=2)",
        "xo.repeat(xo.repeat(images, 2, axis=-2), 2, axis=-1)",
        "by whole factors; along one axis xo.interp is linear",
    ),
    "l1_loss": ("F.l1_loss(x, y)", "xo.mean(xo.abs(x - y))"),
    "layer_norm": (
        "F.layer_norm(x, (4,))",
        "(x - xo.mean(x, axis=-1, keepdims=True)) / xo.sqrt(xo.var(x, axis=-1, keepdims=True) + 1e-5)",
    ),
    "leaky_relu": ("F.leaky_relu(x)", "xo.where(x > 0, x, 0.01 * x)"),
    "linear": ("F.linear(x, y)", "xo.matmul(x, xo.matrix_transpose(y))"),
    "mse_loss": ("F.mse_loss(x, y)", "xo.mean((x - y) ** 2)"),
    "normalize": ("F.normalize(x, dim=1)", "x / xo.maximum(xo.linalg.vector_norm(x, axis=1, keepdims=True), 1e-12)"),
    "relu": ("torch.relu(x)", "xo.maximum(x, 0)"),
    "scaled_dot_product_attention": ("F.scaled_dot_product_attention(q, q, q)", "xo.attention(q, q, q)"),
    "silu": ("F.silu(x)", "x * xo.sigmoid(x)"),
    "softplus": ("F.softplus(x)", "xo.logaddexp(x, 0.0)", "no threshold"),
    # creation, dtypes and devices
    "as_tensor": ("torch.as_tensor([1.0, 2.0])", "xo.asarray([1.0, 2.0], like=x)", "floats have the dtype of x"),
    "cpu": ("x.cpu()", 'xo.to_device(x, "cpu")', 'x.cuda() is xo.to_device(x, "cuda:0")'),
    "from_numpy": ("torch.from_numpy(h)", 'xo.convert(h, "torch")'),
    "is_floating_point": ("torch.is_floating_point(x)", 'xo.isdtype(x.dtype, "real floating")'),
    "is_complex": ("torch.is_complex(z)", 'xo.isdtype(z.dtype, "complex floating")'),
    "new_zeros": ("x.new_zeros(3)", "xo.zeros(3, like=x)"),
    "tensor": ("torch.tensor([1.0, 2.0])", "xo.asarray([1.0, 2.0], like=x)"),
    "to": ("x.to(torch.float32)", 'xo.astype(x, "float32")', "to a device: xo.to_device"),
    # random numbers
    "bernoulli": ("torch.bernoulli(s / 9)", f"{RNG}.random(s.shape) < s / 9", "booleans; keep one generator"),
    "rand": ("torch.rand(2, 3)", f"{RNG}.random((2, 3))", "keep one generator"),
    "rand_like": ("torch.rand_like(x)", f"{RNG}.random(x.shape)", "keep one generator"),
    "randint": ("torch.randint(0, 9, (2, 3))", f"{RNG}.integers(0, 9, (2, 3))", "keep one generator"),
    "randn": ("torch.randn(2, 3)", f"{RNG}.normal(size=(2, 3))", "keep one generator"),
    "randn_like": ("torch.randn_like(x)", f"{RNG}.normal(size=x.shape)", "keep one generator"),
    "randperm": ("torch.randperm(5)", f"{RNG}.permutation(5)", "keep one generator"),
    # programs
    "compile": ("torch.compile(f)", "xo.jit(f)"),
}
"""By PyTorch's name in torch, torch.nn.functional (``F``) or torch.Tensor: the line there, ours, and what differs."""
WITHOUT = {
    "Tensor": "arrays keep the class of their library; xo.backend(x).name is its name",
    "autograd": "gradients are taken of functions: xo.grad(f) and xo.value_and_grad(f)",
    "cuda": "devices are named by strings: xo.to_device(x, 'cuda:0'); xo.synchronize(x) waits for the device of x",
    "detach": "gradients are taken of functions: values computed inside with xo.no_grad() are constants",
    "inference_mode": "use with xo.no_grad()",
    "manual_seed": "there is no global random state; rng = xo.random.default_rng(0, like=x) makes a generator",
    "nn": "there are functions such as xo.conv2d, xo.attention and xo.softmax, and no layers or optimisers",
    "istft": "there is no inverse of windows that overlap; xo.fft.irfft transforms each window",
    "optim": "there are gradients, xo.value_and_grad(f), and no optimisers",
    "stft": "it is xo.fft.rfft(xo.sliding_window_view(x, n, step=hop) * xo.hanning(n, periodic=True, like=x))",
}
"""The reason for each name without a counterpart."""


def answer(name: str) -> str | None:
    """The equivalent of a name, to append to ``xo has no cat``; None for an unknown name."""
    if name in LINES:
        theirs, ours, *remarks = LINES[name]
        return f". Instead of {theirs}: {ours}" + "".join(f" ({remark})" for remark in remarks)
    return f": {WITHOUT[name]}" if name in WITHOUT else None
