"""The command verify: `xarrayops.testing.verify` for two files and a call."""
