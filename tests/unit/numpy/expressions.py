"""Calls with NumPy's positional and keyword arguments, one or more for each name, by family.

The values are those of conftest.py: f, g, n, r, z, b and k are matrices of 3 rows and 4 columns, a and s are square,
t has three dimensions, and h, i, o, u, v, w are vectors.
"""


def parts(text, separator=None):
    """The calls of a text, or the words."""
    return [part.strip() for line in text.splitlines() for part in line.split(separator) if part.strip()]


UNARY = parts("""
abs absolute arctan arcsinh atan asinh cbrt ceil conj conjugate cos cosh deg2rad degrees exp exp2 expm1 fabs floor
isfinite isinf isnan logical_not negative positive rad2deg radians rint sign signbit sin sinh spacing square tan tanh
trunc sinc isreal iscomplex isposinf isneginf nan_to_num real imag angle fix round around
""")
OF_POSITIVE = parts("""
log log10 log1p log2 sqrt
""")
OF_UNIT = parts("""
acos arccos asin arcsin atanh arctanh
""")
BINARY = parts("""
add arctan2 atan2 copysign divide equal floor_divide fmax fmin fmod greater greater_equal heaviside hypot less
less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod multiply not_equal remainder
subtract true_divide
""")
BITS = parts("""
bitwise_and bitwise_or bitwise_xor
""")
UFUNCS = [
    *(f"np.{name}({x})" for name in UNARY for x in ("g", "k", "r")),
    *(f"np.{name}(np.abs({x}) + 1)" for name in OF_POSITIVE for x in ("g", "k")),
    *(f"np.{name}(u)" for name in OF_UNIT),
    *(f"np.{name}({pair})" for name in BINARY for pair in ("f, g", "r, 2", "k, 2.5", "v, [1, 2, 3, 4, 5.0]")),
    *(f"np.{name}({pair})" for name in BITS for pair in ("k, 3", "b, b", "i, [1, 2, 3, 4, 5]")),
    *parts(
        """
np.reciprocal(g); np.reciprocal(i + 1); np.acosh(w * w + 1); np.arccosh(w * w + 1); np.invert(k); np.bitwise_not(b)
np.bitwise_invert(i); np.left_shift(i, 2); np.bitwise_left_shift(i, i); np.right_shift(i, 1)
np.bitwise_right_shift(i, i); np.power(g, 2); np.pow(i, 2); np.pow(g, f); np.float_power(i, 2); np.nextafter(f, g)
np.ldexp(f, 3); np.divmod(f, g); np.divmod(k, 3); np.modf(f); np.matmul(a, s); np.vecdot(f, g); np.matvec(a, h)
np.vecmat(h, a); np.add(k, r); np.multiply(k, 1j); np.add(2, 3); np.sqrt(4); np.add([1, 2], 0.5); np.add.reduce(f)
np.add.reduce(f, 1, keepdims=True); np.multiply.reduce(f, axis=None); np.maximum.reduce(f, 1)
np.minimum.reduce(f, (0, 1)); np.logical_and.reduce(b); np.subtract.reduce(f); np.bitwise_or.reduce(k, 1)
np.logical_or.reduce(b, -1); np.hypot.reduce(f, 1); np.fmax.reduce(n, 1); np.add.accumulate(f)
np.multiply.accumulate(f, 1); np.maximum.accumulate(v); np.subtract.accumulate(v); np.add.outer(v, h)
np.multiply.outer(i, i); np.add.reduceat(v, [0, 2, 1]); np.add.reduce(f, where=b); np.add(f, g, dtype=np.float32)
np.sqrt(i, dtype="f4"); np.add(f, 1, where=True)
np.logaddexp2(-np.inf * np.abs(h), -np.inf); np.logaddexp.reduce(f, 1); np.add.reduceat(v, [])
""",
        "; ",
    ),
]
REDUCTIONS = [
    *(
        f"np.{name}(f{rest})"
        for name in parts("sum prod max min amax amin mean std var ptp all any median")
        for rest in ("", ", 1", ", axis=(0, 1)", ", axis=0, keepdims=True")
    ),
    *(f"np.{name}(k)" for name in parts("sum prod max min mean std var all any median average ptp")),
    *(
        f"np.{name}(n{rest})"
        for name in parts("nansum nanprod nanmax nanmin nanmean nanstd nanvar nanmedian")
        for rest in ("", ", 1", ", axis=0, keepdims=True")
    ),
    *parts(
        """
np.sum(f, 0, np.float32); np.sum(f, initial=2.5); np.sum(f, axis=1, where=b); np.prod(f, where=b, initial=2)
np.max(f, where=b, initial=-5); np.min(f, 1, initial=0); np.mean(f, where=b); np.mean(k, 1, where=b)
np.var(f, ddof=1); np.std(f, 1, ddof=1); np.var(f, correction=1); np.std(f, axis=0, where=b)
np.var(f, 1, mean=np.mean(f, 1, keepdims=True)); np.var(z); np.mean(z, 0); np.mean(f, 0, np.float32)
np.any(f > 0, 1, where=b); np.all(f > -9, where=b); np.sum([1, 2, 3]); np.mean([1, 2]); np.sum(b)
np.max([1, 5], initial=7); np.sum(f, axis=()); np.max(np.zeros((0, 2)), 0, initial=3); np.prod(f, -1); np.argmax(f)
np.argmax(f, 1); np.argmin(f, axis=0, keepdims=True); np.count_nonzero(k, 1); np.cumsum(f); np.cumsum(k, 1)
np.cumprod(f, axis=0); np.cumsum(f, 0, np.float32); np.count_nonzero(k); np.cumulative_sum(v)
np.cumulative_prod(f, axis=1, include_initial=True); np.average(f, 1); np.average(f, weights=np.abs(g))
np.average(f, 1, [1, 2, 3, 4], returned=True); np.average(f, returned=True); np.nansum(n, where=b)
np.nanmax(n, where=b, initial=-4); np.nanmin(n, 1, initial=0); np.nansum(k); np.nanmean(n, where=b)
np.nanvar(n, 1, ddof=1); np.nanstd(n, where=b); np.nanmean(k); np.nanvar(f, 0); np.nancumsum(n); np.nancumprod(n, 1)
np.nanargmax(n); np.nanargmin(n, 0); np.nanargmax(k, 1); np.quantile(f, 0.3); np.quantile(f, [0.1, 0.9], 1)
np.percentile(f, 30, method="nearest"); np.percentile(f, [10, 50], axis=0, keepdims=True); np.nanquantile(n, 0.4, 1)
np.nanpercentile(n, [5, 50]); np.percentile(k, 50); np.quantile(k, 0.5, 0)
""",
        "; ",
    ),
]
CREATION = parts(
    """
np.zeros(3); np.zeros((2, 3), int); np.ones(2, "f4"); np.ones((2, 2), np.bool_); np.full((2, 2), 3)
np.full(2, 1.5, np.float32); np.full((2, 2), [1, 2]); np.eye(3); np.eye(2, 3, 1, int); np.identity(2)
np.empty((0, 2)); np.tri(3); np.tri(2, 3, 1, int); np.arange(3); np.arange(1, 4, 0.5); np.arange(3.0)
np.arange(3, dtype=np.float32); np.arange(5, 1, -2); np.linspace(0, 1, 5); np.linspace(0, 2, 4, False)
np.linspace(0, 1, 3, retstep=True); np.linspace(h, 1, 4); np.linspace(0, 9, 4, dtype=int); np.asarray(f)
np.linspace(h, h + 1, 3, axis=1); np.logspace(0, 2, 3); np.logspace(0, 2, 3, base=2); np.array(f, ndmin=3)
np.geomspace(1, 8, 4); np.geomspace(1, 8, 3, False); np.array([[1, 2], [3, 4]]); np.array([1, 2.5])
np.array([True, False]); np.array([1j, 2]); np.array([1, 2], dtype=np.float32); np.array(f, copy=None)
np.asanyarray([1.0, 2]); np.asarray_chkfinite(v); np.copy(f); np.astype(f, np.int64); np.zeros_like(k)
np.ones_like(f, int); np.empty_like(f)[:0]; np.full_like(k, 3); np.full_like(f, h[:1]); np.zeros_like(f, shape=(2, 2))
np.meshgrid(v, h); np.meshgrid(i, h, indexing="ij"); np.meshgrid(v, h, sparse=True); np.indices((2, 3))
np.indices((2, 2), sparse=True); np.fromfunction(lambda p, q: p + 2 * q, (2, 3)); np.fromiter(range(3), float)
np.frombuffer(bytes(16)); np.bartlett(5); np.blackman(6); np.hamming(5); np.hanning(4); np.kaiser(5, 8.6)
np.mgrid[0:2, 0:3]; np.ogrid[0:2, 0:3]; np.mgrid[0:1:3j]; np.r_[v, 0.5, 1:3]; np.r_[1:4]; np.c_[v, w]
np.s_[1:3].start; np.index_exp[1:3][0].stop; np.zeros(2, like=f); np.arange(3, like=f); np.diag([1, 2]); np.bool_(3)
np.float32(2.5); np.int64(3); np.float64(k); np.complex128(v)
np.average(t, axis=(2, 0), weights=t[:, 0].T ** 2); np.average(t, axis=(0, 1), weights=t[:, :, 0] ** 2)
np.geomspace([1, 2], [10, 20], 5); np.geomspace(1j, 16j, 5); np.geomspace(-1, 1, 3, dtype=complex)
np.geomspace(-1.0, -8.0, 4); np.geomspace(h[:1] ** 2, h[1:2] ** 2, 3, axis=1); np.geomspace(-3, 3, 4)
np.logspace(0, 2, 6, base=[2.0, 3.0]); np.logspace([0, 1], 2, 3, base=2)
""",
    "; ",
)
SHAPES = parts(
    """
np.reshape(f, (4, 3)); np.reshape(f, -1); np.reshape(f, (2, 6), "F"); np.reshape(f, (2, -1)); np.ravel(f)
np.ravel(f, "F"); np.resize(v, (2, 4)); np.transpose(t); np.transpose(t, (1, 2, 0)); np.permute_dims(f)
np.matrix_transpose(t); np.swapaxes(t, 0, 2); np.moveaxis(t, 0, -1); np.moveaxis(t, [0, 1], [2, 0]); np.rollaxis(t, 2)
np.rollaxis(t, 0, 3); np.squeeze(f[None]); np.squeeze(f[None], 0); np.expand_dims(f, 1); np.expand_dims(f, (0, -1))
np.atleast_1d(3.0); np.atleast_2d(v); np.atleast_3d(f); np.atleast_1d(v, f); np.broadcast_to(h, (2, 3))
np.broadcast_arrays(f, f[:1]); np.broadcast_shapes((3, 1), (4,)); np.flip(f); np.flip(f, 1); np.fliplr(f)
np.flipud(f); np.rot90(f); np.rot90(f, 2); np.rot90(t, 3, (1, 2)); np.roll(v, 2); np.roll(f, 1, 0)
np.roll(f, (1, 2), (0, 1)); np.tile(v, 2); np.tile(f, (2, 1, 2)); np.repeat(f, 2); np.repeat(f, 2, 1)
np.repeat(v, [1, 0, 2, 1, 1]); np.concatenate([f, g]); np.concatenate((f, k), 1); np.concat([v, [1, 2]])
np.concatenate([f, g], None); np.stack([f, g]); np.stack([f, g], -1); np.concatenate([f, g], dtype=np.float32)
np.unstack(f); np.unstack(f, axis=1); np.row_stack([f, g]); np.vstack([v, w]); np.vstack([f, g]); np.vstack((v, i))
np.hstack([v, w])
np.hstack([f, g]); np.dstack([f, g]); np.column_stack([v, w]); np.block([[a, s], [s, a]]); np.block([v, 1])
np.append(f, 1); np.append(f, g, 0); np.array_split(v, 3); np.split(f, 2, 1); np.split(v, [1, 3]); np.hsplit(f, 2)
np.vsplit(f, 3); np.dsplit(t, [1]); np.ndim(f); np.shape(f); np.size(f); np.size(f, 1); np.iterable(f)
np.append(v, [[1], [2]])
""",
    "; ",
)
INDEXING = parts(
    """
np.where(b, f, g); np.where(b, f, 0); np.where(b, 1, 0.5); np.where(k > 0); np.nonzero(k); np.flatnonzero(k)
np.take(f, i); np.take(f, [0, 2], 1); np.take(f, [[0, 1], [2, 0]], axis=0); np.take(v, [7, -8], mode="clip")
np.take(v, [7, -8], mode="wrap"); np.take(v, 2); np.take(v, -1); np.take_along_axis(f, np.argsort(f, 1), 1)
np.compress([True, False, True], f, 0); np.compress(b[0], f, axis=1); np.extract(b, f); np.choose(q, [a, s, 0.5])
np.choose([0, 1, 0], [h, h + 1]); np.select([f < 0, f < 1], [f, g], 9)
np.piecewise(v, [v < 0, v >= 0], [-1, lambda x: 2 * x]); np.piecewise(v, [v < 0], [-1, 1])
np.unravel_index(i, (2, 3)); np.unravel_index([3, 4], (2, 3), "F"); np.ravel_multi_index((i % 2, i % 3), (2, 3))
np.ix_(i, [0, 1]); np.diag_indices(3); np.diag_indices_from(a); np.tril_indices(3); np.triu_indices(3, 1, 4)
np.tril_indices_from(f); np.triu_indices_from(f, -1); np.searchsorted(o, v); np.searchsorted(o, 2.0, "right")
np.insert(v, 2, 9.0); np.insert(f, [0, 2], 1, axis=1); np.delete(v, 2); np.delete(f, [0, 2], 1); np.trim_zeros(k[2])
np.trim_zeros([0, 1, 0, 2, 0]); np.delete(v, slice(1, 3))
np.select([i > 2, i < 1], [np.asarray(i, dtype="int8"), 7]); np.ravel_multi_index((i, i), (4, 5), mode="clip")
""",
    "; ",
)
PRODUCTS = parts(
    """
np.dot(a, s); np.dot(a, h); np.dot(v, w); np.dot(t, f.T); np.dot(2, v); np.inner(f, g); np.inner(v, w); np.outer(v, h)
np.outer(f, v); np.vdot(z, z); np.vdot(f, g); np.tensordot(f, g.T, 1); np.kron(a, f)
np.tensordot(t, f, [[1, 2], [0, 1]]); np.einsum("ij,kj->ik", f, g); np.einsum("ii", a); np.cross(a, s)
np.einsum(f, [0, 1], g, [0, 1], [0]); np.cross(h, a, axis=-1); np.diagonal(f); np.diagonal(t, 1, 1, 2); np.trace(a)
np.trace(t, 0, 1, 2); np.trace(k, 1); np.diag(f); np.diag(v, 1); np.diagflat(f); np.tril(f); np.triu(f, 1)
np.tril(t, -1); np.vander(h); np.vander(i, 3); np.vander(h, 4, increasing=True); np.dot(k, f.T); np.inner(k, r)
np.dot(i, i)
""",
    "; ",
)
ORDER = parts(
    """
np.sort(f); np.sort(f, 0); np.sort(f, None); np.sort(k, kind='stable'); np.argsort(v); np.argsort(f, 0)
np.lexsort((v, i)); np.partition(v, 2)[2]; np.argsort(f, axis=None); v[np.argpartition(v, 1)][1]; np.unique(i)
np.unique(k, return_counts=True); np.unique(i, True, True, True); np.unique(q, axis=0); np.sort(np.unique_values(i))
np.unique_counts(np.sort(f, None)); np.unique_inverse(f); np.unique_all(f); np.isin(k, [1, 8])
np.isin(i, i[:2], invert=True); np.intersect1d(i, [2, 3, 9]); np.union1d(i, [2, 7])
np.intersect1d(i, [2, 3, 9], return_indices=True); np.setdiff1d(i, [2]); np.setxor1d(i, [2, 7])
np.isclose(f, f + 1e-9); np.isclose(n, n, equal_nan=True); np.allclose(f, f + 1e-9); np.allclose(f, g, 9, 9)
np.array_equal(f, f); np.array_equal(n, n, True); np.array_equal(f, v); np.array_equiv(f, f[None])
np.isclose(r, 0.9999999999999998, rtol=0, atol=0.5)
""",
    "; ",
)
NUMERIC = parts(
    """
np.clip(f, -0.5, 0.5); np.clip(f, None, 0); np.clip(k, 0.5, 3.5); np.clip(f, min=0); np.clip(f, f[0], 1)
np.round(f, 2); np.around(f, 1); np.round(k, -1); np.angle(z); np.angle(z, True); np.real_if_close(z)
np.real_if_close(f + 0j); np.nan_to_num(n, nan=2.0); np.real(z); np.imag(z); np.diff(v); np.diff(f, 2, 0)
np.diff(v, prepend=0); np.diff(f, append=f[:, :1]); np.diff(b); np.ediff1d(k); np.ediff1d(v, 9, [1, 2])
np.gradient(v); np.gradient(f, 2.0, axis=0); np.gradient(f); np.gradient(v, o * o + np.arange(5)); np.interp(v, o, w)
np.interp(0.7, o, i); np.interp(v, o, w, -9, 9); np.trapezoid(v); np.trapezoid(f, dx=0.5, axis=0); np.trapezoid(v, o)
np.unwrap(v * 9); np.unwrap(f * 5, axis=0); np.convolve(v, h); np.convolve(v, h, 'same'); np.correlate(v, h)
np.correlate(v, [1, 2], 'full'); np.bincount(i); np.bincount(i, w, 6); np.digitize(v, o)
np.digitize(v, [0, 1], right=True); np.histogram(v); np.histogram(f, 4, (-1, 1)); np.histogram(v, [-1, 0, 2.0])
np.histogram(v, 3, density=True); np.histogram(v, 3, weights=w); np.histogram_bin_edges(v, 4); np.cov(f)
np.cov(f, rowvar=False, ddof=0); np.cov(v, w); np.cov(k, bias=True); np.corrcoef(f); np.corrcoef(v, w)
np.polyval([1, 2, 3], v); np.polyval(h, 2.0); np.polyfit(v, w, 2); np.polyfit(v, w, 1, w=u); np.pad(v, 2)
np.pad(f, ((1, 2), (0, 1)), 'edge'); np.pad(v, (1, 2), 'reflect'); np.pad(f, 1, constant_values=5); np.histogram(i, 4)
np.sinc(0.0)
np.cov(v, 1j * w); np.cov(r, f); np.corrcoef(v, 1j * w); np.trapezoid(t, x=np.reshape(h, (1, 3, 1)), axis=1)
np.insert(v, np.asarray([True, False, True, False, False]), 9); np.delete(v, [True, False, False, True, True])
np.delete(v, np.asarray([1, 3])); np.convolve(v, h, 1); np.real(2.5); np.imag(1j); np.trim_zeros(v, 'f')
np.clip(v, None, 0.5); np.clip(v, min=0.0); np.diff(v, 0); np.pad(h, 2, "linear_ramp", end_values=5)
""",
    "; ",
)
DTYPES = parts(
    """
np.iscomplexobj(z); np.isrealobj(f); np.isscalar(3.0); np.issubdtype(np.float32, np.floating)
np.issubdtype(f.dtype, np.integer); np.issubdtype(k.dtype, np.signedinteger); np.can_cast(np.int64, np.float32)
np.can_cast(f, np.float32, 'same_kind'); np.finfo(np.float32).eps; np.finfo(float).tiny; np.finfo('f4').precision
np.finfo(r.dtype).resolution
np.finfo(f.dtype).smallest_subnormal; np.iinfo(np.int8).max; np.finfo(f.dtype).max
np.result_type(np.int8, np.float32) == np.float32; np.promote_types('i4', 'u4') == np.int64
np.common_type(f, k) == np.float64; np.isdtype(np.float32, 'real floating'); np.dtype('f4').itemsize
np.dtype(float).kind == 'f'; isinstance(f, np.ndarray); isinstance([1], np.ndarray); f.dtype == np.float64
isinstance(np.float32(3), np.floating); isinstance(3, np.integer); np.pi + np.e; np.inf; np.euler_gamma
np.result_type(k, 0.5) == np.float64; np.result_type(r, 0.5) == np.float32; np.True_; np.False_
np.issubdtype(f.dtype, np.floating); np.issubdtype(i.dtype, np.integer)
""",
    "; ",
)
LINALG = parts(
    """
np.linalg.cholesky(s); np.linalg.cond(a); np.linalg.cond(a, 1); np.linalg.det(a); np.linalg.det(q)
np.linalg.cholesky(s, upper=True); np.linalg.cross(a, s); np.linalg.diagonal(t); np.linalg.eigvalsh(s)
np.linalg.eigh(s)[0]; np.linalg.eigh(a, 'U').eigenvalues; np.sort(np.abs(np.linalg.eigvals(a)))
np.sort(np.real(np.linalg.eig(s)[0])); np.linalg.inv(a); np.linalg.lstsq(f.T, w[:4])[0]; np.linalg.matmul(a, s)
np.linalg.matrix_norm(f); np.linalg.matrix_norm(t, ord=1); np.linalg.matrix_power(a, 3); np.linalg.norm(f)
np.linalg.matrix_power(a, -2); np.linalg.matrix_power(q, 2); np.linalg.matrix_rank(f); np.linalg.norm(v, 1)
np.linalg.matrix_rank(s, 1e3); np.linalg.matrix_rank(s, hermitian=True); np.linalg.matrix_transpose(t)
np.linalg.multi_dot([a, s, f]); np.linalg.norm(f, axis=1); np.linalg.norm(f, np.inf, (0, 1), True)
np.linalg.outer(v, h); np.linalg.pinv(f); np.abs(np.linalg.qr(f)[1]); np.abs(np.linalg.qr(f, 'r'))
np.abs(np.linalg.qr(f.T, 'complete').R); np.linalg.slogdet(a); np.linalg.solve(a, h); np.linalg.svd(f)[1]
np.linalg.svd(f, compute_uv=False); np.linalg.svd(f, full_matrices=False)[2].shape; np.linalg.svdvals(f)
np.linalg.tensordot(f, g.T, axes=1); np.linalg.tensorinv(a, 1); np.linalg.tensorsolve(a, h); np.linalg.trace(t)
np.linalg.vecdot(f, g); np.linalg.vector_norm(f, axis=1); np.linalg.vector_norm(f, ord=3); np.linalg.inv(r[:, :3])
np.linalg.cond(np.ones_like(a)) > 1e15; np.linalg.matrix_rank(f[:0]); np.linalg.norm(t, axis=(0, -1))
np.linalg.lstsq(f.T, w[:4], rcond=-1)[2]; np.linalg.cond(0 * a)
""",
    "; ",
)
FFT = [
    *(
        f"np.fft.{name}({x})"
        for name in parts("fft ifft rfft irfft hfft ihfft fftn ifftn rfftn fft2 ifft2 rfft2")
        for x in ("f", "f, None")
    ),
    *parts(
        """
np.fft.irfftn(z); np.fft.irfft2(z); np.fft.fft(f, 6); np.fft.fft(f, 3, 0); np.fft.fft(f, axis=0, norm='ortho')
np.fft.fftn(t, (2, 3), (0, 1)); np.fft.fft2(t, axes=(0, 1)); np.fft.irfft(z, 7); np.fft.fftfreq(5)
np.fft.rfftfreq(6, 0.5); np.fft.fftshift(f); np.fft.ifftshift(f, 1); np.fft.fft(k); np.fft.rfft([1.0, 2, 3])
np.fft.fft(r)
""",
        "; ",
    ),
]
HOST = parts(
    """
np.add(f, g, order="F"); np.asfortranarray(f); np.ascontiguousarray(f.T); np.isfortran(f); np.argwhere(k)
np.require(f, np.float32, 'C'); np.shares_memory(v, v); np.may_share_memory(v, w); np.argwhere(v[0])
np.linalg.lstsq(f.T, w[:4])[1:2]; np.isfortran(np.asfortranarray(f)); np.ravel(np.asfortranarray(f), "A")
""",
    "; ",
)
"""Calls that need memory or values: of NumPy and PyTorch."""
FAMILIES = {
    "ufuncs": UFUNCS,
    "reductions": REDUCTIONS,
    "creation": CREATION,
    "shapes": SHAPES,
    "indexing": INDEXING,
    "products": PRODUCTS,
    "order": ORDER,
    "numeric": NUMERIC,
    "dtypes": DTYPES,
    "linalg": LINALG,
    "fft": FFT,
}
