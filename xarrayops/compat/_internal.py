"""The internal helpers of array-api-compat, which some packages import."""

from array_api_compat._internal import *
