"""NumPy 2's names and signatures for the arrays of every library: ``import xarrayops.numpy as np``.

Each function calls one of ours and takes NumPy's arguments: positional axes, ``ddof=``, ``dtype=``, ``out=``,
``where=``. Arrays stay native. Without an array, functions follow `xarrayops.use` and `xarrayops.set_default`, with
NumPy's default dtypes unless those name another. Unsupported arguments raise an error that says what to write.
"""

from math import e as e, inf as inf, nan as nan, pi as pi
from typing import Any as _Any

from xarrayops.numpy import fft as fft, linalg as linalg, random as random
from xarrayops.numpy._accumulations import *
from xarrayops.numpy._creation import *
from xarrayops.numpy._dtypes import *
from xarrayops.numpy._dtypes import DTYPES as _DTYPES, KINDS as _KINDS
from xarrayops.numpy._elementwise import UFUNCS as _UFUNCS
from xarrayops.numpy._indexing import *
from xarrayops.numpy._joining import *
from xarrayops.numpy._moments import *
from xarrayops.numpy._numeric import *
from xarrayops.numpy._order import *
from xarrayops.numpy._products import *
from xarrayops.numpy._quantiles import *
from xarrayops.numpy._ranges import *
from xarrayops.numpy._reductions import *
from xarrayops.numpy._shapes import *
from xarrayops.numpy._ufunc import ufunc as ufunc

newaxis = None
euler_gamma = 0.5772156649015329
True_, False_ = True, False
globals().update(_UFUNCS | _DTYPES | _KINDS)


def __dir__() -> list[str]:
    return sorted(name for name in globals() if not name.startswith("_"))


def __getattr__(name: str) -> _Any:
    from xarrayops._core.numpy_names import missing

    raise missing(__name__, name)
