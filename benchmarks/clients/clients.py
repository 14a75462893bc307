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
    """Folders of the sdist if `sdist` is true, and else modules. Each is one run of pytest."""
    options: tuple[str, ...] = ()
    """More arguments of pytest."""
    sdist: bool = False
    fixture: str = ""
    """Only tests that use this fixture."""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def device(self) -> str:
        """The device of the tests."""
        return self.environment.get("SCIPY_DEVICE", "cpu")


def _scipy(libraries: str, fixture: str = "xp", **environment: str) -> Client:
    return Client(
        "scipy",
        "scipy._lib.array_api_compat",
        tuple(f"scipy.{name}" for name in SCIPY),
        ("-k", libraries) if libraries else (),
        fixture=fixture,
        environment={"SCIPY_ARRAY_API": "1", **environment},
    )


def _sklearn(select: str, mode: str) -> Client:
    place = "sklearn.externals.array_api_compat"
    return Client("scikit-learn", place, ("sklearn",), ("-k", select), environment={"SCIPY_ARRAY_API": mode})


_INSTALLED = "array_api_compat"
CLIENTS = {
    "scipy": _scipy("numpy or torch"),
    "scipy-lazy": _scipy("jax or dask"),
    "scipy-cuda": _scipy(
        "torch or cupy",
        SCIPY_ARRAY_API='["torch", "cupy"]',
        SCIPY_DEVICE="cuda",
        JAX_PLATFORMS="cuda,cpu",  # SciPy's tests choose a device of JAX even if they do not use JAX
        XLA_PYTHON_CLIENT_PREALLOCATE="false",
    ),
    "scipy-default": _scipy("", fixture="", SCIPY_ARRAY_API=""),
    "sklearn": _sklearn("array_api", "1"),
    "sklearn-default": _sklearn("not array_api", ""),
    "array-api-extra": Client("array-api-extra", _INSTALLED, ("tests/main",), sdist=True),
    "array-api-compat": Client("array-api-compat", _INSTALLED, ("tests",), sdist=True),
    "xarray": Client("xarray", _INSTALLED, ("xarray.tests.test_array_api",)),
    "einops": Client(
        "einops", _INSTALLED, ("einops/tests",), sdist=True, environment={"EINOPS_TEST_BACKENDS": "numpy,torch,jax"}
    ),
    "opt-einsum": Client("opt_einsum", _INSTALLED, ("opt_einsum/tests",), sdist=True),
    "marray": Client("marray", _INSTALLED, ("marray/tests",), sdist=True),
}
