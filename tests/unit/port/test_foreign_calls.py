"""What check says of calls of other packages: which arrays they take, and a call that runs on every library."""

import numpy as np
import pytest

import xarrayops as xo
from xarrayops.port import check
from xarrayops.port.__main__ import main

X, W = np.linspace(0.0, 1.0, 32).reshape(8, 4) ** 2, np.asarray([0.25, 0.5, 0.25])
IMPORTS = """import numpy as np
from scipy import ndimage
from scipy.interpolate import interp1d
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
"""
CALLS = (
    "ndimage.convolve1d(input=x, weights=w, axis=0)",
    "ndimage.convolve1d(x, *[w], **{'axis': 1})",
    "KMeans(3, random_state=0, n_init=1).fit_predict(x)",
    "PCA(2).fit_transform(x)",
    "interp1d(x[:, 0], x[:, 1])(x[1:3, 0])",
)


@pytest.mark.parametrize("call", CALLS)
def test_the_advice_runs_with_all_arguments(tmp_path, call):
    pytest.importorskip("scipy")
    pytest.importorskip("sklearn")
    torch = pytest.importorskip("torch")
    path = tmp_path / "program.py"
    path.write_text(f"{IMPORTS}\ndef f(x: np.ndarray, w: np.ndarray):\n    return {call}\n")
    found = [each for each in check(path).findings if each.kind == "foreign call"]
    advice = max(found, key=lambda each: len(each.instead)).instead
    variables = {"xo": xo}
    exec(IMPORTS, variables)
    wanted = eval(call, variables | {"x": X, "w": W})
    result = eval(advice, variables | {"x": torch.asarray(X), "w": torch.asarray(W)})
    assert isinstance(result, torch.Tensor)
    assert np.allclose(result.numpy(), wanted)


TAKES = {
    "scipy.fft.rfft(x)": "takes NumPy's arrays, and also arrays of cupy, dask, jax and torch with SCIPY_ARRAY_API=1",
    "scipy.ndimage.label(x)": "jax (on the CPU) and torch (on the CPU) with SCIPY_ARRAY_API=1, if all of its arrays",
    "scipy.linalg.expm(x)": "scipy.linalg.expm takes NumPy's arrays",
    "sklearn.decomposition.PCA(2).fit(x)": "cupy and torch with SCIPY_ARRAY_API=1 and sklearn.set_config(array_api_d",
    "sklearn.cluster.DBSCAN().fit(x)": "sklearn.cluster.DBSCAN().fit takes NumPy's arrays",
    "cv2.blur(x, (3, 3))": "cv2.blur takes NumPy's arrays",
    "unheard_of.f(x)": "unheard_of.f takes NumPy's arrays",
}


@pytest.mark.parametrize("call", TAKES)
def test_a_finding_says_which_arrays_a_function_takes(tmp_path, call):
    path = tmp_path / "program.py"
    path.write_text(
        f"import numpy as np\nimport {call.partition('(')[0].rpartition('.')[0]}\n\ndef f(x: np.ndarray):\n"
    )
    with path.open("a") as file:
        file.write(f"    return {call}\n")
    (found,) = [each for each in check(path).findings if each.kind == "foreign call"]
    assert TAKES[call] in found.what


def test_parameters_of_unknown_kind_give_a_guess(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("from sklearn.cluster import KMeans\n\ndef f(x):\n    return KMeans(3).fit_predict(x)\n")
    (found,) = check(path).findings
    assert (found.instead, found.certain) == ("xo.on_host(KMeans(3).fit_predict)(x)", False)


def test_rewrite_offers_the_option_where_it_would_change_something(tmp_path, capsys):
    path, out = tmp_path / "program.py", tmp_path / "out.py"
    path.write_text("import numpy as np\nimport scipy.fft\n\ndef f(x: np.ndarray):\n    return scipy.fft.fft(x)\n")
    assert main(["rewrite", str(path), "-o", str(out)]) == 0
    assert "1 call: --scipy-array-api" in capsys.readouterr().out
    assert main(["rewrite", str(path), "-o", str(out), "--scipy-array-api"]) == 0
    assert "1 call: --scipy-array-api" not in capsys.readouterr().out
    assert "return scipy.fft.fft(x)" in out.read_text()
