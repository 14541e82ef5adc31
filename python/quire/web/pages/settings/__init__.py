"""Settings: the service at a glance, accounts, tokens, targets of notices, imports and exports.

These pages show and call what the API has. ``section`` is the frame that they share.
"""

from __future__ import annotations
