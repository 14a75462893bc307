"""``check``: what stands in the way of a program on each library, line by line, with a verdict for each.

One file for each topic of rules; `verdict` sums them up; `terminal`, `page` and `Report.as_dict` show the report.
"""

from xarrayops.port.checking.report import Report, check

__all__ = ["Report", "check"]
