"""Host memory: views of it, and copies in another order of axes."""

from __future__ import annotations

from xarrayops._host import permute as permute, views as views
