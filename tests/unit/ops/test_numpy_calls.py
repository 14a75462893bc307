"""Calls with NumPy's arguments that are not ours: a TypeError with what to write, and signatures without them."""

import ast
import inspect
import pickle
import re
from itertools import chain
from operator import attrgetter

import numpy as np
import pytest

import xarrayops as xo
from xarrayops._core.numpy_names.calls import OPTIONS, STEPS
from xarrayops._core.numpy_names.positions import POSITIONS, moved
from xarrayops._core.refused import NotGiven
from xarrayops._protocol.surface import CREATION, SURFACE

X = np.asarray([[0.5, 0.25, 0.75, 1.0], [0.125, 0.375, 0.625, 0.875], [0.2, 0.4, 0.6, 0.8]])
CALLS = {
    "xo.sum(x, 0)": "xo.sum takes axis by keyword: xo.sum(x, axis=0)",
    "xo.sum(x, (...,))": "xo.sum takes axis by keyword: xo.sum(x, axis=axis)",
    "xo.sum(x, None)": "xo.sum takes axis by keyword: xo.sum(x, axis=None)",
    "xo.sum(x, ..., 0)": "xo.sum takes options by keyword: axis=, dtype=, keepdims=",
    "xo.sum(x, 0, keepdims=True)": "xo.sum takes axis by keyword: xo.sum(x, axis=0, keepdims=True)",
    "xo.zeros((3, 4), 'int8', like=x)": "xo.zeros takes dtype by keyword: xo.zeros((3, 4), dtype='int8', like=x)",
    "xo.zeros((3, 4), float, backend='numpy')": "xo.zeros takes dtype by keyword: "
    "xo.zeros((3, 4), dtype=float, backend='numpy')",
    "xo.zeros(2, 3, like=x)": "xo.zeros takes the shape as one tuple: xo.zeros((2, 3), like=x)",
    "xo.empty((2,), order='F', like=x)": "xo.empty has no order=. Values are in C order. Instead: xo.contiguous("
    'xo.empty((2,), like=x), order="F")',
    "xo.full(2, float('-inf'), [1] * 99)": "xo.full takes dtype by keyword: xo.full(2, -xo.inf, dtype=dtype)",
    "xo.eye(3, 3, 1, 'int8', like=x)": "xo.eye takes k and dtype by keyword: xo.eye(3, 3, k=1, dtype='int8', like=x)",
    "xo.clip(x, a_min=x, a_max=2, out=x)": "xo.clip has no a_max=, a_min= and out=. The result is a new array. "
    "Instead: out = xo.clip(x, min=a_min, max=2); to reuse",
    "xo.concat(x, x)": "xo.concat takes one sequence of arrays: xo.concat([x1, x2])",
    "xo.stack(x, x, x)": "xo.stack takes one sequence of arrays: xo.stack([x1, x2, x3])",
    "xo.linalg.trace(x, 1, 2)": "xo.linalg.trace takes options by keyword: offset=, dtype=",
    "xo.astype(x, 'float32', 'F', 'safe')": "xo.astype has no casting= and order=. Test xo.can_cast(x.dtype, "
    "'float32') first. Values are in C order. Instead: xo.contiguous(xo.astype(x, 'float32'), ",
    "xo.eye(3, 3, 1)": "xo.eye takes k by keyword: xo.eye(3, 3, k=1)",
    "xo.linspace(0, 1, 5, True)": "xo.linspace takes endpoint by keyword: xo.linspace(0, 1, 5, endpoint=True)",
    "xo.zeros(3, 4)": "xo.zeros takes the shape as one tuple: xo.zeros((3, 4))",
    "xo.zeros(2, 3, 4)": "xo.zeros takes the shape as one tuple: xo.zeros((2, 3, 4))",
    "xo.zeros(3, x.dtype)": "xo.zeros takes dtype by keyword: xo.zeros(3, dtype='float64')",
    "xo.reshape(x, 4, -1)": "xo.reshape takes the shape as one tuple: xo.reshape(x, (4, -1))",
    "xo.reshape(x, (4, 3), order=order)": "xo.reshape has no order=. Values are read and written in C order. Instead: ",
    "xo.add(x, x, out=x)": "xo.add has no out=. The result is a new array. Instead: out = xo.add(x1, x2); to reuse ",
    "xo.sort(x, kind='stable')": "xo.sort has no kind=. Leave it out: xo.sort(x) does the same",
    "xo.astype(x, x.dtype, casting='same_kind')": "xo.astype has no casting=. Test xo.can_cast(x.dtype, ",
    "xo.take(x, x, mode='raise')": "xo.take has no mode=. Leave it out: xo.take(x, indices) does the same, where ",
    "xo.where(x)": "xo.where takes three arguments. Instead of np.where(condition): xo.nonzero(condition)",
    "xo.where(x, x)": "xo.where takes three arguments. Instead of np.where(condition): xo.nonzero(condition)",
    "xo.squeeze([x])": "xo.squeeze needs the axes: xo.squeeze(x, axis)",
    "xo.max([x], where=x)": "xo.max has no where=. Instead: xo.max(xo.where(where, x, -xo.inf))",
    "xo.mean([x], where=x)": "xo.mean has no where=. Instead: xo.sum(xo.where(where, x, 0)) / xo.count_nonzero(",
    # Python's own: the keyword is named
    "xo.mean(x, dtype='float32')": "mean() got an unexpected keyword argument 'dtype'",
    "xo.add(x, x, casting='no')": "add() got an unexpected keyword argument 'casting'",
}


@pytest.mark.parametrize("call", CALLS)
def test_the_error_names_the_keyword_or_what_to_write(call):
    with pytest.raises(TypeError) as caught:
        eval(call, {"xo": xo, "x": X, "order": "A"})
    assert str(caught.value).startswith(CALLS[call])
    assert "{" not in str(caught.value)


def functions():
    """The generated functions, with the parameters that Python knows and those that tools see."""
    for verb, text in SURFACE.items():
        function = attrgetter(verb)(xo)
        if "tools/standard.pyi" in (inspect.getmodule(function).__doc__ or ""):
            yield verb, text, function, inspect.signature(function, follow_wrapped=False).parameters


FUNCTIONS = [pytest.param(*row, id=row[0]) for row in functions()]


def test_the_functions_are_found():
    assert len(FUNCTIONS) > 160


@pytest.mark.parametrize(("verb", "text", "function", "known"), FUNCTIONS)
def test_tools_see_the_signature_of_the_table(verb, text, function, known):
    shown = inspect.signature(function)
    bare = [p.replace(annotation=p.empty) for p in shown.parameters.values() if p.name not in ("like", "backend")]
    written = str(shown.replace(parameters=bare, return_annotation=shown.empty))
    assert written == text.replace(", *)", ")")
    assert (verb in CREATION) == ("like" in shown.parameters)
    assert all(p.annotation is not p.empty for p in shown.parameters.values())
    assert set(known) - set(shown.parameters) <= {"extra", *STEPS}
    assert NotGiven not in {p.default for p in shown.parameters.values()}
    assert inspect.unwrap(function).__code__ is function.__code__
    assert f"def {function.__name__}(" in inspect.getsource(function)
    assert pickle.loads(pickle.dumps(function)) is function


M = X > 0.4
SCOPE = {
    "np": np,
    "xo": xo,
    "x": X,
    "y": X[::-1] + 1.0,
    "z": np.full(X.shape, 7.0),
    "p": X.astype(np.int64) + 2,
    "q": np.arange(12).reshape(3, 4) % 4,
    "m": M,
    "w": M[::-1],
    "t": np.asarray([0, 5, -1]),
    "i": np.asarray([0, 2, 1]),
    "s": np.asarray([0.1, 0.5, 0.9]),
    "a": np.asarray([[2.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 1e-4]]),
    "c": X + 1j,
    "n": np.asarray([np.nan, 1.0, np.nan]),
}
REDUCTIONS = ("all", "any", "max", "mean", "min", "prod", "std", "sum", "var")
OTHERS = (
    *(f"np.{verb}({'m' if verb in ('all', 'any') else 'x'}, 0)" for verb in REDUCTIONS),
    *(f"np.{verb}(x, axis=0, out=z[0])" for verb in REDUCTIONS if verb not in ("all", "any")),
    *(f"np.{verb}(m, axis=0, out=w[0])" for verb in ("all", "any")),
    *(f"np.{verb}(m, axis=1, keepdims=True, where=w)" for verb in ("all", "any")),
    *(
        f"np.{verb}(x{axis}, where={where})"
        for verb in ("mean", "std", "sum", "var", "prod")
        for axis in ("", ", axis=0", ", axis=1, keepdims=True")
        for where in ("m", "m[0]", "True")
    ),
    *(f"np.{verb}(x, ddof=1)" for verb in ("std", "var")),
    *(f"np.{verb}(c, axis=0, where=m, ddof=1)" for verb in ("std", "var")),
    *(f"np.{verb}(x, axis=0, initial=0.5)" for verb in ("max", "min", "prod", "sum")),
    *(f"np.{verb}(x, where=m, initial=0.5)" for verb in ("max", "min", "prod", "sum")),
    *(f"np.{verb}(3, 'int32')" for verb in ("asarray", "ones", "zeros")),
    *(f"np.{verb}((2, 3), order='{order}')" for verb in ("ones", "zeros") for order in "CF"),
    *(f"np.{verb}(x, 'int32')" for verb in ("ones_like", "zeros_like")),
    "np.empty_like(x, 'int32') * 0",
    *(f"np.{verb}(x, order='F')" for verb in ("asarray", "ones_like", "zeros_like")),
    "np.empty_like(x, order='F') * 0",
    *(f"np.{verb}(x, 1)" for verb in ("count_nonzero", "diff", "flip", "tril", "triu", "argmax", "argmin")),
    *(f"np.{verb}(x, 0, z[0].astype(int))" for verb in ("argmax", "argmin")),
    *(f"np.{verb}(x, axis=0, out=z[0].astype(int))" for verb in ("argmax", "argmin")),
    *(f"np.{verb}(x, 0)" for verb in ("sort", "argsort")),
    *(f"np.{verb}(x, kind='stable')" for verb in ("sort", "argsort")),
    *(f"np.{verb}(x, axis=0, out=z)" for verb in ("cumulative_prod", "cumulative_sum")),
    *(f"np.{verb}([x, y], {options})" for verb in ("concat", "stack") for options in ("1", "axis=1, dtype='float32'")),
    "np.concat([x, y], out=np.zeros((6, 4)))",
    "np.stack([x, y], out=np.zeros((2, 3, 4)))",
    *(f"np.empty({arguments}) * 0" for arguments in ("3, 'float32'", "3, order='F'")),
    "np.full((2, 3), 1, 'float32')",
    "np.full(2, 3, 'float32')",
    "np.full((2, 3), 1.0, order='F')",
    "np.full_like(x, 1, 'float32')",
    "np.full_like(x, 1, order='F')",
    "np.eye(3, 3, 1)",
    "np.eye(3, order='F')",
    "np.arange(0, 9, 2, 'float32')",
    "np.linspace(0, 1, 5, False)",
    "np.linspace(0, 1, 5, retstep=True)",
    "np.linspace(0, 1, 5, endpoint=False, retstep=True)",
    "np.linspace(0, 1, 5, True, True)",
    "np.linspace(0, 1, 5, False, False, 'float32')",
    "np.linspace(0, 1, 5, retstep=False)",
    "np.reshape(x, (4, 3), 'F')",
    "np.reshape(x, (2, -1, 3), order='F')",
    "np.reshape(x, (4, 3), order='C')",
    "np.round(x, 1)",
    "np.round(x, out=z)",
    "np.clip(x, 0.3, 0.5, z)",
    "np.clip(x, 0.3, 0.5, out=z)",
    "np.clip(x, a_min=0.5, a_max=None)",
    "np.clip(x, a_min=None, a_max=0.5)",
    "np.clip(x, a_min=None, a_max=x[0])",
    "np.take(x, i, 1)",
    "np.take(x, i, axis=1, out=x[:, :3] * 0)",
    "np.take(x, t, axis=1, mode='clip')",
    "np.take(x, t, axis=0, mode='wrap')",
    "np.take(x[0], t, mode='wrap')",
    "np.take_along_axis(x, q[:1] * 0, 0)",
    "np.matmul(a, a, out=z[:, :3])",
    "np.tensordot(a, a, 1)",
    "np.vecdot(x, y, z[:, 0])",
    "np.repeat(x, 2, 1)",
    "np.roll(x, 2, 1)",
    "np.searchsorted(s, x, 'right')",
    "np.isin(p, q, True)",
    "np.isin(q, t, assume_unique=True)",
    "np.unique(q, True)",
    "np.unique(q, False, True)",
    "np.unique(q, False, False, True, 0)",
    "np.unique(q, return_index=True, sorted=True)",
    "np.unique(n, equal_nan=False)",
    "np.unique(n, equal_nan=False, return_counts=True)",
    "np.unique(n, equal_nan=True)",
    *(f"np.meshgrid({arrays}, sparse=True)" for arrays in ("s", "s, t", "s, t, i", "s, t, indexing='ij'")),
    "np.meshgrid(s, t, copy=False)",
    "np.meshgrid(s, t, sparse=False)",
    "np.std(x, 0, None, None, 1)",
    "np.var(x, 0, None, None, 1, True)",
    "np.mean(q, 0, 'float32')",
    "np.mean(x, 0, None, None, True)",
    "np.std(x, axis=0, out=z[0], ddof=1, where=m, keepdims=False)",
    "np.sum(x, 0, None, z[0], False, 2.0, m)",
    "np.sum(x, 0, None, None, True)",
    "np.prod(x, 0, 'float32', z[0].astype('f'))",
    "np.max(x, 0, z[0])",
    "np.min(x, 0, keepdims=True)",
    "np.any(m, 0, None, True)",
    "np.diff(x, 1, 0)",
    "np.diff(x, 2, 1, 0.0)",
    "np.sort(x, 0, 'stable')",
    "np.argmax(x, 0, z[0].astype(int))",
    "np.zeros((2, 3), 'float32', 'F')",
    "np.full((2, 3), 1.0, 'float32', 'F')",
    "np.eye(3, 4, 1, 'float32')",
    "np.searchsorted(s, x, 'right', i)",
    "np.isin(p, q, True, True)",
    "np.take(x, i, 1, x[:, :3] * 0, 'clip')",
    "np.take(x, t, mode='clip')",
    "np.take(x, t, mode='raise')",
    "np.linalg.svd(x, False, False)",
    "np.clip(x, a_min=0.3, a_max=0.5, out=z)",
    "np.fft.rfft(x, 3, 0)",
    "np.fft.fft(x, None, 0)",
    "np.fft.fft(x, None, 0, 'ortho')",
    "np.concat([x, y], 1, np.zeros((3, 8)))",
    "np.squeeze(x[None, :, None])",
    "np.where(m)",
    "np.linalg.matrix_rank(a, 1e-3)",
    "np.linalg.matrix_rank(a, 3.0)",
    "np.linalg.matrix_rank(a, tol=3.0)",
    "np.linalg.pinv(a, 1e-3)",
    "np.linalg.pinv(a, rcond=0.3)",
    "np.linalg.qr(a, 'complete')[1]",
    "np.linalg.svd(x, False)[0]",
    "np.linalg.svd(x, compute_uv=False)",
    "np.linalg.svd(x, compute_uv=True)[1]",
    *(f"np.fft.{verb}(x, 3)" for verb in ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")),
    *(f"np.fft.{verb}(x, (2, 2), axes=(0, 1))" for verb in ("fftn", "ifftn", "irfftn", "rfftn")),
    *(f"np.fft.{verb}(x, 1)" for verb in ("fftshift", "ifftshift")),
    *(f"np.fft.{verb}(3, 0.5)" for verb in ("fftfreq", "rfftfreq")),
)
WITH_ANOTHER_NAME = {
    "np.cross(a, a + 1.0, 0)": "xo.linalg.cross(a, a + 1.0, 0)",
    "np.cross(a, a + 1.0, axisa=0)": "xo.linalg.cross(a, a + 1.0, axisa=0)",
    "np.diagonal(a, 1)": "xo.linalg.diagonal(a, 1)",
    "np.trace(a, 1)": "xo.linalg.trace(a, 1)",
    "np.cumsum(x, 0)": "xo.cumulative_sum(x, 0)",
    "np.cumprod(x, 0)": "xo.cumulative_prod(x, 0)",
    "x.astype('float32', 'F')": "xo.astype(x, 'float32', 'F')",
    "x.astype('float32', order='F')": "xo.astype(x, 'float32', order='F')",
    "x.astype('float32', casting='unsafe')": "xo.astype(x, 'float32', casting='unsafe')",
    "np.linalg.norm(s, 1)": "xo.linalg.vector_norm(s, 1)",
    "np.linalg.norm(a, 'nuc')": "xo.linalg.matrix_norm(a, 'nuc')",
    "np.zeros((2, 3, 4))": "xo.zeros(2, 3, 4)",
    "x.reshape(2, -1, 3)": "xo.reshape(x, 2, -1, 3)",
}
KEYWORD_ONLY_IN_NUMPY = {"linalg.cholesky", "unstack"}


def elementwise():
    """The calls of elementwise functions with ``out=`` and, where it is known, ``where=``."""
    for verb, text, _, known in functions():
        if "out" in known and text in ("(x, /)", "(x1, x2, /)") and verb not in ("matmul", "round"):
            kinds = "pq" if verb.startswith("bitwise") else "mw" if verb.startswith("logical") else "xy"
            arguments = ", ".join(kinds[: text.count("x")])
            yield f"np.{verb}({arguments}, out=np.empty_like(np.{verb}({arguments})))"
            if "where" in known:
                yield f"np.{verb}({arguments}, out=np.ones_like(np.{verb}({arguments})), where=m)"


def ours(call):
    """The call of our function for one of NumPy's."""
    inner = call.replace("np.", "xo.", 1)
    return re.sub(r"\)(\[\d\]| \* 0)$", ")", inner)


TO_FOLLOW = {**{call: ours(call) for call in (*elementwise(), *OTHERS)}, **WITH_ANOTHER_NAME}


def fresh():
    """The arrays that the calls name. NumPy's calls write to some."""
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in SCOPE.items()}


def refused(call):
    """Our function, and by name the arguments of a call that it refuses."""
    node = ast.parse(call, mode="eval").body
    function = eval(ast.unparse(node.func), SCOPE)
    positional = [eval(ast.unparse(each), fresh()) for each in node.args]
    keywords = {each.arg: eval(ast.unparse(each.value), fresh()) for each in node.keywords}
    return function, inspect.signature(function, follow_wrapped=False).bind_partial(*positional, **keywords)


def follow(call):
    """The results of what the answer to a call says to write; of ``out=`` two, for the two ways in the answer."""
    function, bound = refused(call)
    with pytest.raises(TypeError) as caught:
        function(*bound.args, **bound.kwargs)
    text = str(caught.value)
    scope = fresh() | bound.arguments | {f"x{i}": x for i, x in enumerate(bound.arguments.get("arrays", ()), 1)}
    if "extra" in bound.arguments:
        bound.apply_defaults()
        given = {name: value for name, value in bound.arguments.items() if value is not NotGiven}
        scope |= (moved(call[3:].partition("(")[0], given) or [{}])[0]
    if found := re.search(r"with m = (.*?): ", text):
        scope["m"] = eval(found[1], scope)
    if found := re.search(r"out = (.*); to reuse .* can: out = (.*)", text):
        return [eval(found[1], scope), eval(found[2], scope)]
    line = re.search(r"(?:(?:Instead|with m|of np.where).*|out|by keyword|tuple|axes|of arrays): (.*)", text)[1]
    ends = (
        r", with out for the other elements$| does the same(?:, where the library can raise)?$|, which keeps every NaN$"
    )
    return [eval(re.sub(ends, "", line), scope)]


@pytest.mark.parametrize("theirs", TO_FOLLOW)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")
def test_the_answer_gives_what_numpy_gives(theirs):
    expected = eval(theirs, fresh())
    for got in follow(TO_FOLLOW[theirs]):
        ends = re.search(r"\)(\[\d\]| \* 0)$", theirs)
        got = eval(f"got{ends[1]}") if ends else got
        pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
        for mine, each in pairs:
            assert np.shape(mine) == np.shape(each)
            assert np.asarray(mine).dtype.kind == np.asarray(each).dtype.kind
            np.testing.assert_allclose(mine, each, rtol=1e-12)


def test_a_wrong_answer_is_found(monkeypatch):
    monkeypatch.setitem(OPTIONS, "ddof", ("correction", "0"))
    monkeypatch.setitem(STEPS, "out", lambda call: call.wrap("x1"))
    monkeypatch.setitem(POSITIONS, "diff", ("axis", "n"))
    wrong = ("np.std(x, ddof=1)", "np.add(x, y, out=np.empty_like(np.add(x, y)))", "np.diff(x, 1, 0)")
    for theirs in wrong:
        with pytest.raises(AssertionError):
            test_the_answer_gives_what_numpy_gives(theirs)


@pytest.mark.parametrize(("verb", "text", "function", "known"), FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_argument_that_is_not_ours_has_an_answer_to_follow(verb, text, function, known):
    followed = set()
    for call in TO_FOLLOW.values():
        if call.startswith(f"xo.{verb}("):
            followed |= refused(call)[1].arguments.keys()
    assert verb in KEYWORD_ONLY_IN_NUMPY or known.keys() - inspect.signature(function).parameters.keys() <= followed


def test_every_answer_is_used():
    used = {*inspect.signature(xo.unique, follow_wrapped=False).parameters}
    used |= {name for _, _, _, known in functions() for name in known} | set(chain(*POSITIONS.values()))
    assert used >= STEPS.keys()


def test_positions_are_those_of_numpy():
    """Of NumPy's functions that have a signature; the answers about others are in the calls above."""
    names = {"linalg.vector_norm": "linalg.norm", "cumulative_sum": "cumsum", "cumulative_prod": "cumprod"}
    keyword_only = {"linalg.cross", "linalg.matrix_norm"}
    for verb in POSITIONS.keys() - keyword_only - {"astype"}:
        try:
            theirs = inspect.signature(attrgetter(names.get(verb, verb))(np)).parameters.values()
        except ValueError:
            continue
        own = xo.asarray if verb == "asarray" else attrgetter(verb)(xo)
        places = sum(p.kind is not p.KEYWORD_ONLY for p in inspect.signature(own).parameters.values())
        order = [p.name for p in theirs if p.kind is not p.KEYWORD_ONLY][places:]
        assert tuple(order[: len(POSITIONS[verb])]) == POSITIONS[verb], verb


def test_the_default_of_numpy_is_accepted():
    assert xo.add(X, X, out=None).shape == X.shape


def test_torch_compile_traces_the_functions():
    torch = pytest.importorskip("torch")

    def f(x):
        y = xo.reshape(xo.clip(xo.add(x, x), 0.0, max=1.0), (6,))
        y = xo.squeeze(xo.where(xo.isin(y, y), y, y)[None], 0)
        return xo.sum(y, axis=0) + xo.std(xo.zeros_like(y), axis=0)

    x = torch.ones((2, 3))
    assert torch.compile(f, fullgraph=True, backend="eager")(x) == f(x) == 6.0
