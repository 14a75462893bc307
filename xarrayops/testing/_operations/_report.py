"""What `check_operation` reports."""

from __future__ import annotations

from xarrayops.plugin.arrays import Record


class OperationFault(Record):
    """A fault of a kernel or of the operation.

    Attributes
    ----------
    kernel : str
        ``"library:kernel"``, or the library and the way in which the operation ran.
    sample : str
        The arguments.
    what : str
        What is wrong.
    """

    kernel: str
    sample: str
    what: str

    def __str__(self) -> str:
        return f"{self.kernel}, {self.sample}: {self.what}"


class OperationReport(Record):
    """The outcome of `check_operation`.

    Attributes
    ----------
    name : str
        The operation.
    calls : dict
        The number of calls that were checked, by kernel (``"library:kernel"``).
    not_checked : dict
        The kernels that were not checked, each with the reason.
    faults : tuple of OperationFault
        What is wrong.
    """

    name: str
    calls: dict[str, int]
    not_checked: dict[str, str]
    faults: tuple[OperationFault, ...]

    @property
    def ok(self) -> bool:
        """Whether no fault was found."""
        return not self.faults

    def __str__(self) -> str:
        lines = [f"{self.name}: {f'{len(self.faults)} faults' if self.faults else 'no fault'}"]
        lines += [f"  {kernel}: {count} calls" for kernel, count in self.calls.items()]
        lines += [f"  {kernel}: not checked: {reason}" for kernel, reason in self.not_checked.items()]
        lines += [f"  fault: {fault}" for fault in self.faults]
        return "\n".join(lines)
