"""The functions of the standard that the namespaces take from xarrayops."""

_QUICKER = "quicker than array-api-compat's"
REASONS: dict[str, dict[str, str]] = {
    "numpy": dict.fromkeys(("sign", "unique_all", "unique_counts", "unique_inverse", "unique_values"), _QUICKER),
    "torch": {},
    "cupy": {},
    "dask.array": {},
}
"""By library, each function that is xarrayops' own, and why. All others are array-api-compat's."""
