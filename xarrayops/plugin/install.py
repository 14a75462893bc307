"""The command that installs an extra, for an installed package and for a checkout."""

from __future__ import annotations


def install_command(extra: str, distribution: str = "xarrayops") -> str:
    """The command that installs an extra of a distribution.

    A distribution that was installed from a folder may not be on an index: the command is then for that folder, a
    checkout, as in ``pip install '.[torch]'``.
    """
    return f"pip install '{'.' if _is_from_folder(distribution) else distribution}[{extra}]'"


def _is_from_folder(distribution: str) -> bool:
    """Whether pip installed a distribution from a folder; it says so in direct_url.json (PEP 610)."""
    from importlib import metadata  # slow to import, and needed for errors only

    try:
        origin = metadata.distribution(distribution).read_text("direct_url.json")
    except metadata.PackageNotFoundError:  # the package is imported from a checkout that is not installed
        return distribution == "xarrayops"
    return origin is not None and "dir_info" in origin
