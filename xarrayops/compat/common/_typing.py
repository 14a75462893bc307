"""The types of array-api-compat."""

from array_api_compat.common._typing import *
