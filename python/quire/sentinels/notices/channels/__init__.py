"""Channels: messages go in, and out to webhooks, mail servers and notification services."""

from __future__ import annotations

from quire.sentinels.notices.channels.channels import Channels
from quire.sentinels.notices.channels.mail import MailServer
from quire.sentinels.notices.channels.webhook import signing_key, webhook_gate

__all__ = ["Channels", "MailServer", "signing_key", "webhook_gate"]
