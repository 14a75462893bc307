"""Settings that hold in a ``with`` block: default library, device and dtypes, engines, precision."""
