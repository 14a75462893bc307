"""The helpers of array-api-compat, for the namespaces of this package."""

from ._helpers import *
from ._helpers import __all__ as __all__
