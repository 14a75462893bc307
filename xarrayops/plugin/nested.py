"""Arrays in nested tuples, lists and dictionaries, which hooks for compiled functions get and return."""

from xarrayops._protocol.nested import fill as fill, leaves as leaves, leaves_as as leaves_as
