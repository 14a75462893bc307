"""Fixtures of the browser tests: a synthetic run, and a headless Chromium without network that opens its report."""

import shutil
from dataclasses import asdict

import pytest

from xarrayops.bench.report import page
from xarrayops.bench.results import STATUSES, Results, Row

HOSTILE = "</script><img src=x onerror=window.hacked=1>"
PLACES = {"numpy": ("cpu", 1.0), "torch": ("cpu", 0.5), "jax": ("cpu:0", 0.51), "cupy": ("cuda:0", 0.04)}
WORKLOADS = {"matmul": (64, 512, 4096), "softmax rows": (1000, 100_000), "transpose": (256, 2048), "fft": (4096,)}
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND"),
)


def measured(workload, dtype, size, backend):
    """A row with numbers that depend only on its names."""
    device, pace = PLACES[backend]
    launch = {"cupy": 3e-5, "jax": 1.01e-6}.get(backend, 1e-6)
    operations = {"matmul": 2.0 * size**3, "fft": 60.0 * size}.get(workload, 0.0)
    nbytes = 8.0 * size * (size if workload in ("matmul", "transpose") else 1)
    median = launch + pace * (operations / 1e11 + nbytes / 1e10) * (2 if dtype == "float64" else 1)
    return Row(
        *(workload, backend, device, dtype, size),
        group=workload.split()[0],
        shape=[[size, size]] * 2,
        status="ok",
        median_s=median,
        low_s=median * 0.998,
        high_s=median * 1.002,
        confidence=0.97,
        cold_s=1.4 * median,
        first_call_s=(0.5 if backend == "cupy" else 0.03) + median,
        transfer_s=nbytes / 5e9,
        import_s=0.8,
        throughput=(operations or nbytes) / median,
        throughput_unit="FLOP/s" if operations else "B/s",
        peak_bytes=None if device == "cuda:0" else int(nbytes),
        error=3e-7,
        tolerance=1e-5,
        operations=operations,
        nbytes=nbytes,
        roof="compute" if operations else "memory",
        roof_fraction=0.4,
        roof_throughput=2.5 * (operations or nbytes) / median,
        calls=120,
        medians_s=[[median * (1 + k / 400) for k in range(-2, 3)], [median * (1.01 + k / 300) for k in range(-2, 3)]],
        versions={backend: "2.1", "blas": "0.3"},
        device_kind=device.split(":")[0],
        device_label="A100" if backend == "cupy" else "cpu",
        machine="EPYC 7B13, 8 CPUs, 64 GiB, Linux",
        load=1000.0,
    )


def empty(row, status):
    kept = ("workload", "backend", "device", "dtype", "size", "group", "device_kind", "device_label", "machine", "load")
    known = {name: value for name, value in asdict(row).items() if name in kept}
    return Row(**known, status=status, reason=f"{HOSTILE} because of {status}", fix=f"do without {status} & <b>")


@pytest.fixture(scope="session")
def made_up():
    """Four workloads at up to three sizes and two dtypes on four backends, with every status and hostile names."""
    rows = [
        measured(workload, dtype, size, backend)
        for workload, sizes in WORKLOADS.items()
        for dtype in ("float32", "float64")
        for size in sizes
        for backend in PLACES
    ]
    for i, status in enumerate(STATUSES[1:]):
        at = len(rows) - 1 - 2 * i if rows[-1 - 2 * i].backend != "numpy" else len(rows) - 2 - 2 * i
        rows[at] = empty(rows[at], status)
    rows += [
        Row(workload, "dask", "", dtype, size, group=workload, status="not-installed", reason="no dask", fix="get it")
        for workload, dtype, size in {(row.workload, row.dtype, row.size): None for row in rows}
    ]
    rows += [measured("transpose", "int8", 64, "numpy"), empty(measured("fft", "int8", 64, "jax"), "timeout")]
    for row in rows[-2:]:
        row.workload, row.group, row.operations = HOSTILE, HOSTILE, 1e6
    rows[0].roof_doubt = f"886 % of the compute limit {HOSTILE}"
    return Results(rows, environment())


def environment():
    roof = {"memory_by": "numpy", "compute_by": "torch"}
    return {
        "command": "python -m xarrayops.bench --all --size large",
        "date": "2026-11-21T17:00:00Z",
        "seconds": 271.3,
        "load": 1000.0,
        "machine": {"cpu": "EPYC 7B13", "cpus": 8, "usable_cpus": 8, "memory_bytes": 64 << 30, "os": HOSTILE},
        "settings": {"OMP_NUM_THREADS": "8"},
        "pools": {"numpy": [{"internal_api": "openblas", "num_threads": 8, "architecture": "Zen"}]},
        "versions": {"numpy": {"numpy": "2.3.1"}, "torch": {"torch": "2.13"}},
        "roofs": [
            {"device": "cpu", "dtype": "float32", "memory": 3e10, "compute": 4e11, **roof},
            {"device": "cpu", "dtype": "float64", "memory": 3e10, "compute": 2e11, **roof},
            {"device": "cuda:0", "dtype": "float32", "memory": 1.5e12, "compute": None, **roof},
        ],
        "resolution": 0.05,
        "workloads": {"matmul": {"timed": "matmul(x, y)", "code": f"def f(x, y):\n    return {HOSTILE!r}\n"}},
    }


@pytest.fixture(scope="session")
def folder(made_up, tmp_path_factory):
    """The page, and the page compared with an earlier run in which softmax took twice as long."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "report.html").write_text(page.html(made_up), encoding="utf-8")
    before = Results([Row(**asdict(row)) for row in made_up.rows], {**environment(), "settings": {"KEPT": HOSTILE}})
    for row in before.rows:
        if row.workload == "softmax rows" and row.measured:
            row.median_s, row.medians_s = 2 * row.median_s, [[2 * s for s in each] for each in row.medians_s]
    (folder / "compared.html").write_text(page.html(made_up, before), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    from selenium import webdriver

    browser, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not (browser and driver):
        pytest.skip(f"the browser tests need {'chromedriver' if browser else 'chromium'} on the PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chromium = webdriver.Chrome(options, webdriver.ChromeService(driver))
    chromium.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield chromium
    chromium.quit()


@pytest.fixture
def reader(chromium, folder):
    """The page in a wide window with light colours. Any log entry of the browser is an error."""
    appear(chromium, "light", 1280, 900)
    chromium.get((folder / "report.html").as_uri())
    yield chromium
    assert chromium.get_log("browser") == []


@pytest.fixture(name="appear")
def _appear():
    return appear


@pytest.fixture(name="draw")
def _draw():
    return draw


def appear(browser, scheme, width, height):
    """Set the colour scheme and the size of the window. Smooth scrolling is disabled, so that clicks do not miss."""
    preferences = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in preferences.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    draw(browser)


def draw(browser):
    """Wait until the page has handled all events and is rendered."""
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
