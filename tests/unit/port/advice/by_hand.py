"""Advice that asks for a decision: a program, a part of the advice, and the program after it was followed by hand."""

X = "def f(x: np.ndarray):\n    "
BY_HAND = {
    X + "z = x * 1j\n    z.real[:1] = 2\n    return z": (
        "xo.at on the array that z.real is a view of",
        X + "z = x * 1j\n    z = xo.at(z)[:1].assign(2 + 1j * np.imag(z[:1]))\n    return z",
    ),
    X + "for x[0] in range(3):\n        pass\n    return x": (
        "a variable of the loop, and xo.at(x)[0].assign(variable) inside",
        X + "for variable in range(3):\n        x = xo.at(x)[0].assign(variable)\n    return x",
    ),
    X + "m = x > 0\n    x[m] = np.cumsum(x[m])\n    return x": (
        "np.where with the new values of all elements",
        X + "m = x > 0\n    x = np.where(m, np.cumsum(np.where(m, x, 0)), x)\n    return x",
    ),
    X + "x += 1\n    return x": ("return x  # at the end", X + "x = x + 1\n    return x"),
    X + "x = np.sin(x)\n    y = x[1:]\n    y *= 2\n    return x, y": (
        "write the change into x, and make y from it again",
        X + "x = np.sin(x)\n    x = xo.at(x)[1:].multiply(2)\n    y = x[1:]\n    return x, y",
    ),
    X + "y = x[1:]\n    y *= 2\n    return x": (
        "write the change into the caller's array, and make y from it again",
        X + "return xo.at(x)[1:].multiply(2)",
    ),
    X + "xs, y = [], np.sin(x)\n    xs.append(y)\n    y *= 2\n    return xs": (
        "write the change into what else refers to it, and make y from it again",
        X + "xs, y = [], np.sin(x)\n    y = y * 2\n    xs.append(y)\n    return xs",
    ),
    X + "z, y = np.ones(5, np.complex64, like=x), np.ones(5, like=x)\n    z.real += y\n    return z": (
        "xo.at on the array that z.real is a view of",
        X + "z, y = np.ones(5, np.complex64, like=x), np.ones(5, like=x)\n    return xo.at(z)[...].assign(z + y)",
    ),
    X + "z = np.sin(x)\n    z.shape = z.shape = (5, 1)\n    return z": (
        "a new array, by np.reshape",
        X + "return np.reshape(np.sin(x), (5, 1))",
    ),
    X + "np.place(x, x > 0, [1, 2])\n    return x": (
        "a new array for x, for example with xo.at or np.where",
        X + "x = xo.at(x)[x > 0].assign([1, 2, 1])\n    return x",
    ),
    X + "x.byteswap(True)\n    x.byteswap(True)\n    return x": ("a new array for x", X + "return x"),
    X + "z = x * 2\n    z.dtype = np.int64\n    return z": (
        "a new array for z",
        X + "z = np.asarray(xo.convert(x * 2, 'numpy').view('int64'), like=x)\n    return z",
    ),
    X + "x.sum(out=x[1:2], keepdims=True)\n    return x": (
        "the result of x.sum without out=, and x[1:2] for it",
        X + "return xo.at(x)[1:2].assign(np.sum(x, keepdims=True))",
    ),
    X + "m = x > 0\n    y = np.outer(x, x)\n    return np.sum(y[m, 0])": (
        "np.where for all elements, and a reduction",
        X + "m = x > 0\n    y = np.outer(x, x)\n    return np.sum(np.where(m, y[:, 0], 0))",
    ),
    X + "return np.sum(np.extract(x > 0, x))": (
        "a mask and np.where, if the number of elements is not needed",
        X + "return np.sum(np.where(x > 0, x, 0))",
    ),
    X + "s = 0.0\n    for i in range(5):\n        s += float(x[i])\n    return s": (
        "keep it as an array (np.where for choices), or read all numbers once after the loop",
        X + "return np.sum(x)",
    ),
    X + "s = 0.0\n    for i in range(5):\n        s = s + (x[i] if x[i] > 0 else 0.0)\n    return s": (
        "np.where, or a fixed number of steps and one test after several of them",
        X + "return np.sum(np.where(x > 0, x, 0))",
    ),
    X + "z = np.ones(5, like=x)\n    s = 0.0\n    for v in z:\n        s = s + v * 2\n    return s": (
        "slices or index arrays for all elements at once",
        X + "return np.sum(np.ones(5, like=x) * 2)",
    ),
    X + "return max(x, key=abs)": ("functions of NumPy for the whole array", X + "return x[np.argmax(np.abs(x))]"),
    X + "names = np.array(['b', 'a', 'b', 'a', 'a'], dtype='U1')\n    return np.sum(x[names == 'a'])": (
        "numbers for names and dates",
        X + "names = np.array([1, 0, 1, 0, 0], like=x)\n    return np.sum(x[names == 0])",
    ),
    X + "return x + np.ndarray((5,), float, bytes(40))": (
        "np.frombuffer and np.reshape for the memory of another object",
        X + "return x + np.asarray(numpy.frombuffer(bytes(40), 'float64'), like=x)",
    ),
    X + "return np.ones(5, like=x) * x": ('jax.config.update("jax_enable_x64", True)', X + "return np.ones(5, like=x) * x"),
    "from numpy import *\ndef f(x):\n    return sqrt(abs(x))": (
        "import xarrayops.numpy as np",
        "def f(x):\n    return np.sqrt(np.abs(x))",
    ),
    X + "rng = np.random.default_rng(0)\n    return x * rng.random(5)": (
        "numpy.random.default_rng(0)  # and np.asarray(numbers, like=x)",
        X + "rng = numpy.random.default_rng(0)\n    return x * np.asarray(rng.random(5), like=x)",
    ),
    X + "rng = np.random.default_rng(0)\n    return x * rng.poisson(3, 5)": (
        "NumPy's generator has this distribution: xo.asarray(",
        X + "rng = numpy.random.default_rng(0)\n    return x * xo.asarray(rng.poisson(3, 5), like=x)",
    ),
    X + "w = np.linalg.eigvals(np.eye(5, like=x))\n    return x * w": (
        "np.real of the results",
        X + "w = np.real(np.linalg.eigvals(np.eye(5, like=x)))\n    return x * w",
    ),
    X + "return np.vectorize(abs)(x)": ("write the function for whole arrays", X + "return np.abs(x)"),
    X + "if False:\n        np.arrays(3), np.nothing(3)\n    return x": ("np.array", X + "return x"),
    X + "if False:\n        np.nothing(3)\n    return x": ("NumPy has no nothing either", X + "return x"),
    "def f(x: np.typing.NDArray):\n    return x * 2": ("numpy.typing", "def f(x: numpy.typing.NDArray):\n    return x * 2"),
    X + "try:\n        del x[[0]]\n    except (TypeError, ValueError):\n        pass\n    return x": (
        "xo.at for the elements of x",
        X + "return x",
    ),
}  # fmt: skip
