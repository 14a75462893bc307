"""For functions beyond the standard, such as `pad` and `quantile`: checks of arguments, and the generic twins.

A backend whose library has such a function with NumPy's meaning defines it under its name in the module that its
constant ``EXTENDED`` names, which is imported when the first of them is needed. Without it the generic twin serves; a
backend's function may call it with its own namespace for the cases that the library lacks.
"""

from __future__ import annotations

from xarrayops._generic.extended.counting import require_counts as require_counts, segments as segments
from xarrayops._generic.extended.padding import pad_widths as pad_widths
from xarrayops._generic.extended.quantiles import (
    neighbours as neighbours,
    require_method as require_method,
    require_probability as require_probability,
)
