"""Mail: the message as plain text and HTML, through the mail server of the operator."""

from __future__ import annotations

import asyncio
import smtplib
import ssl
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from typing import Literal, TypeAlias

from quire.display import escape
from quire.errors import NoticeFailed, TargetError
from quire.sentinels.notices.escaping import header
from quire.sentinels.notices.message import Message
from quire.sentinels.notices.targets import Target, is_mail_address
from quire.sources.gate import Secret

Security: TypeAlias = Literal["starttls", "tls", "none"]

_FIRST_FINAL = 500


@dataclass(frozen=True, slots=True)
class MailServer:
    """The mail server of the operator.

    Attributes:
        host: its name.
        sender: the address that mails come from.
        port: its port.
        security: ``starttls`` and ``tls`` encrypt; ``none`` is for servers on this machine.
        user: user name; empty to send without one.
        password: password.
        timeout_s: how long each step may take, in seconds.
        trust: a TLS context with other certificates than those of the system.
    """

    host: str
    sender: str
    port: int = 587
    security: Security = "starttls"
    user: str = ""
    password: Secret = field(default_factory=lambda: Secret(""))
    timeout_s: float = 20.0
    trust: ssl.SSLContext | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not is_mail_address(parseaddr(self.sender)[1]) or not self.sender.isprintable():
            raise TargetError(
                f"{self.sender!r}: not a sender of mails; expected an address such as "
                "quire@example.org, or a name and <quire@example.org>"
            )


def write_mail(message: Message, sender: str, recipient: str, now: datetime) -> EmailMessage:
    """Write a mail. Its Message-ID is made from the id of the message."""
    mail = EmailMessage(policy=SMTP)
    mail["From"] = sender
    mail["To"] = recipient
    mail["Subject"] = header(message.subject)
    mail["Date"] = format_datetime(now.astimezone(UTC))
    mail["Message-ID"] = f"<{message.id}@{parseaddr(sender)[1].rpartition('@')[2]}>"
    # Answering machines do not answer such mails (RFC 3834).
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content(message.text)
    mail.add_alternative(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(message.subject)}</title></head>\n<body>\n{message.html}\n</body></html>\n",
        subtype="html",
    )
    return mail


class Mail:
    """Sends messages by mail.

    Args:
        server: the mail server.
        threads: where the connection runs, since it is not asynchronous.
    """

    def __init__(self, server: MailServer, threads: Executor) -> None:
        self._server = server
        self._threads = threads

    async def send(self, target: Target, message: Message) -> None:
        """Send a message.

        Raises:
            NoticeFailed: the mail server did not accept it.
        """
        recipient = target.address.reveal()
        mail = write_mail(message, self._server.sender, recipient, datetime.now(UTC))
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._send, mail)
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            raise _refused(target, max(codes, default=0)) from None
        except smtplib.SMTPAuthenticationError as error:
            # The operator mends this; until then notices wait.
            raise NoticeFailed(
                f"{target.shown}: the mail server does not accept the password of this service "
                f"({error.smtp_code})"
            ) from None
        except smtplib.SMTPResponseException as error:
            raise _refused(target, error.smtp_code) from None
        except (smtplib.SMTPException, OSError) as error:
            raise NoticeFailed(
                f"{target.shown}: the mail server cannot be reached ({type(error).__name__})"
            ) from None

    def _send(self, mail: EmailMessage) -> None:
        server = self._server
        context = server.trust or ssl.create_default_context()
        if server.security == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                server.host, server.port, timeout=server.timeout_s, context=context
            )
        else:
            connection = smtplib.SMTP(server.host, server.port, timeout=server.timeout_s)
        with connection:
            if server.security == "starttls":
                connection.starttls(context=context)
            if server.user:
                connection.login(server.user, server.password.reveal())
            connection.send_message(mail)


def _refused(target: Target, code: int) -> NoticeFailed:
    return NoticeFailed(
        f"{target.shown}: the mail server refused the mail with code {code}",
        is_final=code >= _FIRST_FINAL,
    )
