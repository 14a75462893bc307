"""The packages whose tests are run, and how."""

from __future__ import annotations

from dataclasses import dataclass, field

SCIPY = (
    *(
        "_lib",
        "cluster",
        "differentiate",
        "fft",
        "integrate",
        "interpolate",
        "linalg",
        "optimize",
        "special",
        "spatial",
    ),
    *("ndimage", "signal", "stats"),
)


@dataclass(frozen=True)
class Client:
    """A package whose tests use array-api-compat."""

    package: str
    place: str
    """The import name of array-api-compat for the package."""
    tests: tuple[str, ...]
    """Arguments of pytest; folders are those of the sdist if `sdist` is true, and else modules."""
    sdist: bool = False
    fixture: str = ""
    """Only tests that use this fixture."""
    environment: dict[str, str] = field(default_factory=dict)


def _scipy(libraries: str, fixture: str = "xp", **environment: str) -> Client:
    tests = ("--pyargs", *(f"scipy.{name}" for name in SCIPY), *(("-k", libraries) if libraries else ()))
    settings = {"SCIPY_ARRAY_API": "1", **environment}
    return Client("scipy", "scipy._lib.array_api_compat", tests, False, fixture, settings)


def _sklearn(select: str, mode: str) -> Client:
    tests = ("--pyargs", "sklearn", "-k", select)
    return Client("scikit-learn", "sklearn.externals.array_api_compat", tests, environment={"SCIPY_ARRAY_API": mode})


_INSTALLED = "array_api_compat"
CLIENTS = {
    "scipy": _scipy("numpy or torch"),
    "scipy-lazy": _scipy("jax or dask"),
    "scipy-cuda": _scipy("torch or cupy", SCIPY_ARRAY_API='["torch", "cupy"]', SCIPY_DEVICE="cuda"),
    "scipy-default": _scipy("", fixture="", SCIPY_ARRAY_API=""),
    "sklearn": _sklearn("array_api", "1"),
    "sklearn-default": _sklearn("not array_api", ""),
    "array-api-extra": Client("array-api-extra", _INSTALLED, ("tests/main",), sdist=True),
    "array-api-compat": Client("array-api-compat", _INSTALLED, ("tests",), sdist=True),
    "xarray": Client("xarray", _INSTALLED, ("--pyargs", "xarray.tests.test_array_api")),
    "einops": Client("einops", _INSTALLED, ("einops/tests", "-k", "array_api or numpy or torch"), sdist=True),
    "opt-einsum": Client("opt_einsum", _INSTALLED, ("opt_einsum/tests",), sdist=True),
    "marray": Client("marray", _INSTALLED, ("marray/tests",), sdist=True),
}
