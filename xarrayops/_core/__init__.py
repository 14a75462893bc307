"""Dispatch: find the function that serves a call, by the classes of its arguments."""
