"""Public packages on NumPy, before and after ``python -m xarrayops.port rewrite FOLDER -o OUT``: 0 tests may be lost.

    python benchmarks/port_packages.py WORK [--only NAME,...] [--folder PACKAGE:TESTS ...] [--out FILE]

Each package is downloaded with its tests by pip into WORK, with an environment of its own. The folder of its modules is
rewritten into another folder, except tests; examples in docstrings count as tests and keep NumPy. The
same tests run on the original and on the copy. ``--folder`` adds a package that is on this machine, with the folder of
its tests: those are counted apart. Ends with 3 if a test passed before and does not after.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

import numpy as np

MISSED = 3
ROOT = Path(__file__).resolve().parent.parent
PATHS = os.pathsep.join([str(ROOT), str(ROOT / "backends")])
NEEDED = (
    *("numpy==2.4.6", "pytest", "scipy", "matplotlib", "pandas", "scikit-image==0.26.0", "colour-science==0.4.7"),
    *("colour-demosaicing==0.2.7", "h5py", "numba", "pooch", "requests", "sympy", "ephem"),
)
"""What the tests of the packages need, besides the packages that are installed as they are."""
EXAMPLES = ("--doctest-modules", "--ignore-glob=*/tests/*", "--continue-on-collection-errors")
NUMPY_IN_EXAMPLES = """
import numpy, pytest
@pytest.fixture(autouse=True)
def _numpy(doctest_namespace):
    doctest_namespace["np"] = numpy
"""
RUN = ("-m", "pytest", "-q", "-q", "-rA", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore")


@dataclass
class Package:
    """A package: where its modules are in what pip brings, and which tests run."""

    name: str
    modules: str
    tests: str
    requirement: str = ""
    """The source distribution; empty for a package of the environment."""
    options: tuple[str, ...] = ()


PACKAGES = (
    Package("filterpy", "filterpy", "filterpy", "filterpy==2.0.0"),
    Package("emcee", "src/emcee", "src/emcee/tests", "emcee==3.1.6"),
    Package("numpy-financial", "numpy_financial", "numpy_financial", "numpy-financial==1.0.0", ("--doctest-modules",)),
    Package("transforms3d", "transforms3d", "transforms3d", "transforms3d==0.4.2", ("--doctest-modules",)),
    Package("pvlib", "pvlib", "tests", "pvlib==0.16.1"),
    Package("colour-demosaicing", "colour_demosaicing", "colour_demosaicing", options=EXAMPLES),
    Package("scikit-image", "skimage", "skimage", options=EXAMPLES),
    Package("colour-science", "colour", "colour", options=(*EXAMPLES, "--ignore=colour/examples")),
)


@dataclass
class Row:
    """What came out of one package."""

    name: str
    files: int
    lines: int
    edits: int
    todos: int
    before: int
    lost: list[str] = field(default_factory=list)
    given: bool = False
    """Whether the package was given as a folder."""


def environment(work: Path) -> Path:
    """The Python of an environment with the packages, and this checkout."""
    folder = work / "venv"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True, symlinks=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *NEEDED, *filter(None, (each.requirement for each in PACKAGES))], check=True)
        subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True)
        subprocess.run([*pip, "array-api-compat>=1.16"], check=True)
    return python


def source(package: Package, work: Path, python: Path) -> tuple[Path, Path]:
    """The folder of a package, and the path of its modules inside."""
    if not package.requirement:
        (site,) = (work / "venv").glob("lib/python3*/site-packages")
        return site / package.modules, Path(package.modules)
    folder = work / "sources" / package.name
    if not folder.exists():
        download = ("-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(work / "sdists"))
        subprocess.run([str(python), *download, package.requirement], check=True)
        name = package.name.replace("-", "[-_]")
        (archive,) = (each for each in (work / "sdists").iterdir() if re.match(name, each.name))
        with tarfile.open(archive) as opened:
            opened.extractall(work / "unpacked", filter="data")
        (top,) = (each for each in (work / "unpacked").iterdir() if re.match(name, each.name))
        shutil.move(top, folder)
    return folder, Path(package.modules)


def rewritten(modules: Path, out: Path) -> tuple[int, int, int, int]:
    """Rewrite a folder into another one; the numbers of files, lines, edits and notes."""
    shutil.rmtree(out)
    command = [sys.executable, "-m", "xarrayops.port", "rewrite", str(modules), "-o", str(out), "--format", "json"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": PATHS}, stdout=subprocess.PIPE, check=True)
    files = json.loads(done.stdout)["files"]
    for each in files:
        if "error" in each:
            print(each["error"], file=sys.stderr)
    read = [each for each in files if "error" not in each]
    lines = sum(len(Path(each["path"]).read_text().splitlines()) for each in read)
    return len(read), lines, sum(len(each["edits"]) for each in read), sum(len(each["todos"]) for each in read)


def passed(root: Path, modules: Path, package: Package, python: Path) -> set[str]:
    """The tests of a copy that pass."""
    paths = os.pathsep.join([str((root / modules).parent), PATHS])
    options = {"PYTHONPATH": paths, "MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [str(python), *RUN, *package.options, package.tests],
        cwd=root,
        env=os.environ | options,
        capture_output=True,
        text=True,
        check=False,
    )
    return set(re.findall(r"^PASSED (\S+)", done.stdout, re.MULTILINE))


def run(package: Package, folder: Path, modules: Path, work: Path, python: Path, *, given: bool = False) -> Row:
    """The tests of a package before and after it is rewritten."""
    found = []
    counts = (0, 0, 0, 0)
    for kind in ("before", "after"):
        root = work / "copies" / package.name / kind
        shutil.rmtree(root, ignore_errors=True)
        target = root if package.requirement else root / modules
        shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__", ".git"))
        (root / "conftest.py").write_text(NUMPY_IN_EXAMPLES)
        if kind == "after":
            counts = rewritten(root.parent / "before" / modules, root / modules)
        found.append(passed(root, modules, package, python))
    return Row(package.name, *counts, len(found[0]), sorted(found[0] - found[1]), given)


def main() -> int:
    """Run, print and write the result."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("work", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--folder", action="append", default=[])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    python = environment(work)
    chosen = given.only.split(",") if given.only else [each.name for each in PACKAGES]
    rows = []
    for package in (each for each in PACKAGES if each.name in chosen):
        rows.append(run(package, *source(package, work, python), work, python))
        report(rows[-1])
    for text in given.folder:
        modules, _, tests = text.partition(":")
        package = Package(Path(modules).name, Path(modules).name, tests or Path(modules).name)
        rows.append(run(package, Path(modules).resolve(), Path(package.modules), work, python, given=True))
        report(rows[-1])
    if given.out is not None:
        versions = {name: version(name) for name in ("libcst",)} | {"numpy": np.__version__}
        result = {"versions": versions, "needed": NEEDED, "packages": [asdict(row) for row in rows]}
        given.out.write_text(json.dumps(result, indent=1) + "\n")
    return MISSED if any(row.lost or not row.before for row in rows) else 0


def report(row: Row) -> None:
    """Print a package."""
    print(
        f"{row.name}: {row.files} files, {row.edits} edits, {row.todos} notes; {row.before} tests, {len(row.lost)} lost"
    )
    for name in row.lost[:20]:
        print(f"    {name}")


if __name__ == "__main__":
    sys.exit(main())
