"""For functions beyond the standard, such as `pad` and `quantile`: checks of arguments, and shared steps.

A backend whose library has such a function with NumPy's meaning defines it under its name in the module that its
constant ``EXTRA`` names; or it lists kernels for some calls, as ``QUANTILE_CANDIDATES``. The generic twin serves all
other calls. ``EXTRA`` may also name a package with a module for each family, under the names of the generic twins'
modules, such as ``padding``. Such a module is imported when one of its functions is needed.
"""

from __future__ import annotations

from xarrayops._generic.extra.common import (
    Rows as Rows,
    checked_axes as checked_axes,
    normal_axes as normal_axes,
    normal_axis as normal_axis,
    rows as rows,
    whole as whole,
)
from xarrayops._generic.extra.counting import (
    known as known,
    length_unknown as length_unknown,
    require_counts as require_counts,
    segments as segments,
)
from xarrayops._generic.extra.linalg import require_equations as require_equations
from xarrayops._generic.extra.order import require_count as require_count
from xarrayops._generic.extra.padding import (
    pad_widths as pad_widths,
    pairs as pairs,
)
from xarrayops._generic.extra.quantiles import (
    ROUNDED as ROUNDED,
    neighbours as neighbours,
    require_method as require_method,
    require_probability as require_probability,
)
from xarrayops._generic.extra.shaping import diagonal_slice as diagonal_slice, windows as windows
from xarrayops._generic.extra.signal import (
    convolved as convolved,
    correlated as correlated,
    require_coefficients as require_coefficients,
    require_coordinates as require_coordinates,
    require_signals as require_signals,
)
from xarrayops._generic.extra.statistics import (
    along as along,
    bin_edges as bin_edges,
    require_observations as require_observations,
)
from xarrayops._generic.extra.windows import require_ratio as require_ratio
