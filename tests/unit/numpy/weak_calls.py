"""Calls with Python numbers, lists of them and NumPy's scalars next to an array, for `test_jax_without_64_bits.py`.

x is a sorted vector of 5 elements, m a matrix of 2 rows and 3 columns, both in the dtype under test; b is a mask of x.
`L` marks a list of values: next to an array it is weakly typed, as a number. Other lists are indices, counts or axes.
`S` makes a scalar of NumPy of 64 bits.
"""


def parts(text, separator=None):
    """The calls of a text, or the words."""
    return [part.strip() for line in text.splitlines() for part in line.split(separator) if part.strip()]


ELEMENTWISE = parts("""
add subtract multiply divide true_divide floor_divide mod remainder fmod power pow maximum minimum fmax fmin arctan2
atan2 hypot copysign heaviside logaddexp logaddexp2 equal not_equal less less_equal greater greater_equal logical_and
logical_or logical_xor
""")
BITS = parts("bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift left_shift right_shift")
OTHERS = ("2", "0.5", "L([1, 2, 3, 1, 2])", "S(2)", "S(0.5)")
CALLS = [
    *(f"np.{name}(x, {other})" for name in ELEMENTWISE for other in OTHERS),
    *(f"np.{name}(L([0.5, 2.0, 1.0, 3.0, 4.0]), x)" for name in ELEMENTWISE),
    *(f"np.{name}(2, x)" for name in ELEMENTWISE),
    *parts(
        """
np.divmod(x, 2); np.divmod(x, L([1, 2, 3, 4, 5])); np.nextafter(x, 2); np.nextafter(x, L([0, 9, 0, 9, 0]))
np.ldexp(x, 3); np.ldexp(x, [1, 2, 0, 1, 2]); np.add.outer(x, L([1, 2]))
np.less.outer(x, L([1, 2.5])); np.add.reduce(x, initial=2); np.add.reduceat(x, [0, 2, 1])
np.vecdot(x, L([1, 2, 3, 4, 5])); np.matmul(m, L([1, 2, 3])); np.matvec(m, L([1, 2, 3])); np.vecmat(L([1, 2]), m)
np.multiply.outer(L([1, 2]), x); np.add(x, np.add(x, S(1))); np.where(x > 2, x, 0); np.where(x > 2, 0, x)
np.where(x > 2, x, 0.5); np.where(b, L([1, 2, 3, 4, 5]), x); np.where(b, x, S(0)); np.where(b, S(0.5), x)
np.where(L([1, 0, 1, 0, 1]), x, 0); np.where([True] * 5, x, -1); np.full_like(x, 0); np.full_like(x, 2.5)
np.full_like(x, L([1, 2, 3, 4, 5])); np.full_like(x, S(3)); np.full_like(m, L([1, 2, 3]), shape=(4, 3))
np.insert(x, 1, 0); np.insert(x, [1, 3], L([7, 8])); np.insert(x, 1, S(0)); np.insert(x, [1, 2], 2.5)
np.insert(m, 1, L([1, 2, 3]), 0); np.append(x, 1); np.append(x, 0.5); np.append(x, L([1, 2]))
np.append(m, L([[1, 2, 3]]), 0); np.append(x, S(1)); np.diff(x, prepend=0); np.diff(x, append=L([9]))
np.diff(x, prepend=0.5); np.ediff1d(x, 9, L([1, 2])); np.take(x, [0, 1]); np.take(x, 1); np.take(x, S(1))
np.take(m, [0, 2], 1); np.take(m, -1, 0); np.take(x, [7, -8], mode="clip")
np.take(x, [[0, 1], [2, 3]], mode="wrap")
np.delete(x, [0, 2]); np.delete(x, 1); np.delete(m, [1], 1)
np.compress([1, 0, 1], x); np.compress([True, False], m, 0); np.extract([1, 0, 1, 0, 1], x)
np.choose([0, 1, 0, 1, 0], [x, 1]); np.choose(b, [x, 0.5]); np.choose([0, 1, 0, 1, 0], [L([1, 2, 3, 4, 5]), x])
np.select([x > 2, x > 1], [x, 7], 9); np.select([b, b], [x, 7], S(0)); np.select([b], [L([1, 2, 3, 4, 5])], x)
np.piecewise(x, [x < 2], [-1, 1]); np.piecewise(x, [x < 2], [lambda v: v, 0.5]); np.repeat(x, 2)
np.repeat(x, [1, 0, 2, 1, 1]); np.repeat(m, [2, 1], 0); np.repeat(x, S(2)); np.tile(x, [2, 1]); np.roll(x, 1)
np.roll(m, [1, 1], [0, 1]); np.pad(x, 1, constant_values=5); np.pad(x, [1, 2], "edge")
np.pad(x, (1, 2), constant_values=[0, 9]); np.resize(x, [2, 4]); np.searchsorted(x, 2)
np.searchsorted(x, L([1, 2, 3.0])); np.searchsorted(x, L([1, 2])); np.searchsorted(x, S(2.5), "right")
np.searchsorted(L([0, 1, 2, 3]), x); np.searchsorted(L([0.5, 1.5, 2.5]), x, "right")
np.searchsorted(x[::-1], 2, sorter=[4, 3, 2, 1, 0]); np.isin(x, L([1, 2])); np.isin(x, 2); np.isin(x, L([1.0, 2.5]))
np.isin(L([1, 2, 9]), x); np.isin(x, L([2]), invert=True); np.isin(x, S(2)); np.digitize(x, L([0, 1, 3]))
np.digitize(x, L([0.5, 2.5])); np.digitize(x, L([3, 1]), right=True); np.digitize(2, x); np.digitize(L([0.5, 2]), x)
np.intersect1d(x, L([2, 3, 9])); np.union1d(x, L([2, 7])); np.setdiff1d(x, L([2])); np.setxor1d(x, L([2, 7]))
np.setdiff1d(L([2, 9]), x); np.isclose(x, 2); np.isclose(x, L([1, 2, 3, 4, 5])); np.isclose(x, S(2.5))
np.isclose(x, 2.5, rtol=0, atol=0); np.allclose(x, 2); np.array_equal(x, L([1, 2, 3, 4, 5]))
np.array_equal(x, L([0.5, 2])); np.array_equiv(m, L([1, 2, 3])); np.array_equiv(m, 2.5); np.clip(x, 0, 2)
np.clip(x, 0.5, 2.5); np.clip(x, L([0, 1, 2, 3, 4]), 3); np.clip(x, None, S(2)); np.clip(x, min=S(0))
np.round(x, 1); np.round(x, -1); np.round(x * 7, -1); np.nan_to_num(x, nan=1); np.nan_to_num(x, nan=S(1))
np.gradient(x, 2); np.gradient(x, 2.0); np.gradient(x, L([0, 1, 3, 4, 6])); np.gradient(m, 2, 0.5)
np.interp(x, L([0, 1, 9]), L([1, 2, 3])); np.interp(2.5, x, x); np.interp(L([0.5, 2]), x, x)
np.interp(x, L([0, 9.0]), L([1, 2]), left=0, right=1); np.interp(x, x, L([1, 2, 3, 4, 5]))
np.trapezoid(x, L([0, 1, 2, 4, 8])); np.trapezoid(L([0, 1, 2, 4, 8]), x); np.trapezoid(x, dx=2)
np.convolve(x, L([1, 2, 1])); np.convolve(L([0.5, 1]), x); np.convolve(x, 2); np.correlate(x, L([1, 2, 1]))
np.correlate(x, L([1, 2]), "full"); np.polyval(L([1, 2, 3]), x); np.polyval(x, 2); np.polyval(x, L([1, 2]))
np.polyval(x, S(2)); np.polyfit(x, L([1, 3, 2, 5, 4]), 1)
np.polyfit(L([0, 1, 2, 3, 4]), x, 2, w=L([1, 2, 1, 2, 1])); np.histogram(x, L([0, 1, 2.5])); np.histogram(x, 3)
np.histogram(x, 3, weights=L([1, 2, 1, 2, 1])); np.histogram(x, 3, (0, 9)); np.histogram_bin_edges(x, L([0, 1, 3]))
np.quantile(x, 0.3); np.quantile(x, L([0.1, 0.9])); np.quantile(x, L([0, 1.0]))
np.quantile(x, L([0.1, 0.9]), method="lower"); np.percentile(x, L([10, 90])); np.percentile(x, 50, method="nearest")
np.percentile(m, L([10, 50]), 1, method="higher"); np.nanquantile(x, L([0.1, 0.9])); np.nanpercentile(x, L([5, 50]))
np.quantile(x, S(0.3)); np.average(x, weights=L([1, 2, 1, 2, 1])); np.average(m, 1, L([1, 2, 3]))
np.average(m, 0, L([0.5, 1]), returned=True); np.cov(x, L([1, 3, 2, 5, 4])); np.cov(x, fweights=[1, 2, 1, 1, 1])
np.cov(x, aweights=L([1, 2, 1, 1, 1])); np.corrcoef(x, L([1, 3, 2, 5, 4]))
np.mean(x, where=[True, False, True, True, False]); np.sum(x, where=[True, False, True, True, False], initial=1)
np.max(x, initial=S(9)); np.max(x, initial=2); np.min(x, initial=0, where=[True, False, True, True, False])
np.var(m, 1, mean=L([[1], [2]])); np.dot(x, L([1, 2, 3, 4, 5])); np.dot(2, x); np.dot(m, L([1, 2, 3]))
np.inner(x, L([1, 2, 3, 4, 5])); np.outer(x, L([1, 2])); np.vdot(L([1, 2, 3, 4, 5]), x); np.kron(x, L([1, 2]))
np.tensordot(m, L([1, 2, 3]), 1); np.cross(m, L([1, 2, 3])); np.einsum("ij,j->i", m, L([1, 2, 3]))
np.linalg.cross(m, L([[1, 2, 3], [3, 2, 1]])); np.linalg.matmul(m, L([1, 2, 3])); np.linalg.outer(x, L([1, 2]))
np.linalg.tensordot(m, L([1, 2, 3]), axes=1); np.linalg.vecdot(x, L([1, 2, 3, 4, 5]))
np.linalg.multi_dot([L([[1, 2]]), m]); np.linalg.solve(m[:, :2], L([1, 2])); np.linalg.lstsq(m, L([1, 2]))[0]
np.linalg.matrix_rank(m, 0.1); np.concatenate([x, L([1, 2])]); np.concatenate([L([1, 2]), x])
np.concatenate([m, L([[1, 2, 3]])]); np.stack([x, L([1, 2, 3, 4, 5])]); np.vstack([x, L([1, 2, 3, 4, 5])])
np.hstack([x, L([1, 2]), 3]); np.dstack([x, L([1, 2, 3, 4, 5])]); np.column_stack([x, L([1, 2, 3, 4, 5])])
np.block([x, 1]); np.r_[x, 1, L([2, 3])]; np.c_[x, L([1, 2, 3, 4, 5])]
np.broadcast_arrays(m, L([1, 2, 3])); np.meshgrid(x, L([1, 2])); np.linspace(x, 9, 3); np.linspace(0, x, 3)
np.linspace(x, L([1, 2, 3, 4, 5]), 3); np.geomspace(x, 9, 3); np.logspace(0, x, 3); np.bincount(i, minlength=4)
np.ravel_multi_index((i, [0, 1, 2]), (4, 3)); np.ix_(i, [0, 1])
np.lexsort((x, [1, 0, 1, 0, 1])); np.partition(x, [1, 2])[1]; np.split(x, [1, 3]); np.array_split(x, 2)
np.diag_indices_from(m[:, :2]); np.tril_indices_from(m); np.flatnonzero(x)
np.argwhere(x); np.fmax(x, S(2.5)); np.unwrap(x * 3); np.unwrap(x, period=4); np.rot90(m, 1, [0, 1])
np.trim_zeros(np.append(x, 0)); np.vander(x, 3); np.isposinf(x); np.isneginf(x); np.linalg.norm(x, 2)
np.linalg.matrix_power(m[:, :2], 2); np.logaddexp.reduce(x); np.hypot.reduce(x, initial=1); np.nansum(x, initial=1)
np.add(True, x); np.multiply(x, True)
""",
        "; ",
    ),
]
OF_INTEGERS = [f"np.{name}(x, {other})" for name in BITS for other in ("2", "[1, 2, 3, 1, 2]", "S(2)")]
