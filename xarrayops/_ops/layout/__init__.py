"""Layouts: what they are, and arrays brought into another one."""
