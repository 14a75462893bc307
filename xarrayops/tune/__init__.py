"""``python -m xarrayops.tune``: measure the candidates of calls on this machine, for `xarrayops.measured`."""
