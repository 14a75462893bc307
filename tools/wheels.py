"""Make a folder of wheels, so that ``make gpu WHEELS=FOLDER`` needs no network on the machine with the accelerator.

    python tools/wheels.py FOLDER [--python 3.12] [--platform manylinux_2_28_x86_64 ...] [NAME ...]

It contains the current xarrayops, array-api-compat and array-api-strict, which are pure Python packages. More packages
can be named; their dependencies are not included. Compiled packages are downloaded for the given Python and platform,
by default for this one.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARRIED = ("array-api-compat", "array-api-strict")


def pip(*arguments: str) -> None:
    """Run pip and raise an error if it fails."""
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


def requirements() -> list[str]:
    """The project's requirements for the packages in `CARRIED`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    known = [*project["dependencies"], *project["optional-dependencies"]["contract"]]
    return [spec for spec in known if spec.startswith(CARRIED)]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python tools/wheels.py", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("more", nargs="*", metavar="NAME", help="another package, in pip's syntax")
    parser.add_argument("--python", metavar="VERSION", help="Python of the other machine, such as 3.12")
    parser.add_argument(
        "--platform", action="append", default=[], metavar="TAG", help="platform tag of the other machine"
    )
    options = parser.parse_args()
    folder = options.folder.absolute()
    for old in folder.glob("xarrayops-*.whl"):
        old.unlink()
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    target = ["--python-version", options.python] if options.python else []
    target += [word for tag in options.platform for word in ("--platform", tag)]
    names = [*requirements(), *options.more]
    pip("download", "--no-deps", "--only-binary=:all:", *target, "--dest", str(folder), *names)
    print(*sorted(path.name for path in folder.glob("*.whl")), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
