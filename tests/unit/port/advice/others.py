"""Programs with edits, with errors, and with calls of other packages, whose texts have tests of their own."""

OTHERS = (
    "import scipy.fft\ndef f(x: np.ndarray):\n    return scipy.fft.dct(x, out=x), scipy.fft.dct(x)",
    "import numba\n@numba.njit\ndef g(x, out):\n    out[0] = np.sqrt(x[0])\n"
    "def f(x: np.ndarray):\n    out = np.zeros(3)\n    g(x, out)\n    return out",
    "def f(x: np.ndarray):\n    return np.trapz(x), np.quantile(x, 0.5, interpolation='lower'), np.sin(x).std(foo=1)",
    "def f(x: np.ndarray):\n    rng = np.random.default_rng(0)\n    return rng.unknown(x)",
    "class C:\n    pass\nC.sizes = {np.dtype('float64'): 8}\ndef f(x: np.ndarray):\n    return C.sizes[x.dtype]",
    "def f(x: np.ndarray):\n    y = np.sin(x)\n    y.sort()\n    z = y[::-1]\n    return z",
    "def f(x: np.ndarray):\n    y = np.ones(3)\n    y[y > 0] = 0\n    y[0] = y[1] = 2\n    return y",
    "def f(x: np.ndarray, n):\n    y = np.ones(3, np.float32)\n    y *= x\n    return y",
    "def f(x):\n    t = np.arange(3)\n    y = g(x)\n    return y[:2] / t[1:]\ndef g(v):\n    return v",
    "def f():\n    x = np.ones(3)\n    s = x[0]\n    s += 1\n    return s",
    "import scipy.signal\ndef f(x: np.ndarray):\n    w, v = scipy.signal.freqz([1.0])\n    return x * w * scipy.signal.hann(3)",
    "import scipy.signal\ndef f(x: np.ndarray):\n    w = scipy.signal.hann(3)\n    y = x[1:]\n    return y * w",
    "import scipy.optimize\ndef f(x: np.ndarray):\n    return scipy.optimize.root(lambda m: m - x, x)",
    "def f():\n    return np.sum(xo.ones((3, 3)))",
    "import scipy.special, helper\ndef f(x: np.ndarray):\n    return scipy.special.erf(x), helper.g(x)",
    "import pandas\nfrom .gone import *",
    "from .gone import g\ndef f(x, name):\n    exec('x = 1')\n    return g(x), getattr(np, name)(x)",
    "def g(x: np.ndarray):\n    x[0] = 1\n    x *= 2\ndef f():\n    x = np.ones(3)\n    g(x)\n    return x",
)
