"""The operations: one file or folder for each family."""
