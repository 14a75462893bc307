"""Elementwise functions of large arrays in host memory.

- ``is_served``: whether they are faster for an array than NumPy's.
- ``extremum``: the larger or the smaller of its elements and a number.
"""

from __future__ import annotations

from xarrayops._host.elementwise import extremum as extremum, is_served as is_served
