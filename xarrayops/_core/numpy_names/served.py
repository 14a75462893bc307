"""NumPy's names that `xarrayops` lacks and `xarrayops.numpy` has. They are listed because importing it is slow."""

_MAIN = """
angle append argwhere array_equiv array_split asarray_chkfinite asfortranarray atleast_1d atleast_2d atleast_3d
block c_ choose column_stack copy copyto deg2rad degrees diag_indices diag_indices_from diagflat divmod dot
dsplit dstack ediff1d euler_gamma exp2 extract False_ flatnonzero fliplr flipud float_power fmax fmin fmod
frombuffer fromfunction fromiter heaviside histogram_bin_edges hsplit hstack identity index_exp indices inner
iscomplex iscomplexobj isfortran isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ ldexp
logaddexp2 matvec mgrid modf nanargmax nanargmin nancumprod nancumsum nanprod ndim ogrid piecewise place polyfit
put put_along_axis putmask r_ rad2deg radians ravel ravel_multi_index real_if_close require resize rollaxis
rot90 row_stack s_ select shape sinc size spacing split swapaxes transpose tri tril_indices tril_indices_from
trim_zeros triu_indices triu_indices_from True_ unravel_index unwrap vander vdot vecmat vsplit vstack
"""
MAIN = frozenset(_MAIN.split())
LINALG = frozenset(("multi_dot", "tensorinv", "tensorsolve"))
FFT = frozenset(("fft2", "ifft2", "irfft2", "rfft2"))
_METHODS = """
astype choose clip compress conjugate copy cumprod cumsum diagonal dot imag max mean min ndim nonzero partition
put ravel real repeat reshape resize round searchsorted shape size sort squeeze std sum swapaxes take trace
transpose var
"""
METHODS = frozenset(_METHODS.split())
"""The methods and attributes of NumPy's arrays that `xarrayops.numpy` has as functions."""
