"""The web: requests go in; JSON under ``/api/v1``, feeds and plain pages come out.

``create_app`` builds the application around a ``Service``. Everything is refused by default: each
route has a row in ``protection.access``, and the application does not start with a route that has
none.
"""

from __future__ import annotations

from quire.web.app import create_app
from quire.web.logs import set_up_logs
from quire.web.settings import Settings

__all__ = ["Settings", "create_app", "set_up_logs"]
