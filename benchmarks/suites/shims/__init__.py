"""Plugins of pytest that lead the calls of other projects' tests to our functions."""
