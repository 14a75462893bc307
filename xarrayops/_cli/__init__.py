"""The command lines of the package."""
