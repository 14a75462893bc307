"""Settings of a ``with`` block: default library, device and dtypes, engines, precision."""
