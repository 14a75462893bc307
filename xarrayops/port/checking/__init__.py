"""``check``: what prevents a program from running on each library, line by line, with a verdict for each.

The rules have one file for each topic; `verdict` summarizes the findings; `terminal`, `page` and `Report.as_dict` show
the report.
"""

from xarrayops.port.checking.report import Report, check

__all__ = ["Report", "check"]
