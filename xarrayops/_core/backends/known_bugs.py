"""What users learn of the known bugs of the loaded versions: in a warning, in `explain` and from the doctor."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from xarrayops.plugin.candidates import KnownBad, affected

if TYPE_CHECKING:
    from xarrayops._core.backends.backend import Backend


def texts(faults: Iterable[KnownBad], versions: Mapping[str, str]) -> list[str]:
    """A text for each bug that affects these versions and that no setting of this process avoids."""
    return [
        f"{fault.library} {versions[fault.library]}, device {fault.device}: {fault.condition} ({fault.issue}). "
        + (f"Instead: {fault.advice}" if fault.advice else "xarrayops avoids it")
        for fault in affected(faults, versions)
        if not fault.cured()
    ]


def unavoided(backend: Backend) -> list[str]:
    """The texts of the bugs that xarrayops cannot avoid. Asks for no devices, which would start the library."""
    faults = [fault for fault in backend.known_bad if fault.advice]
    if not faults:
        return []
    return texts(faults, {f.library: getattr(sys.modules.get(f.library), "__version__", "") for f in faults})


def warn(backend: Backend) -> None:
    """Warn once of all the bugs that xarrayops cannot avoid."""
    found = unavoided(backend)
    if found:
        warnings.warn("; ".join(found), RuntimeWarning, stacklevel=2)
