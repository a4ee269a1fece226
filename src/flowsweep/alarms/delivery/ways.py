"""The ways by which a message goes: each ends within its deadline, or says why it did not go."""

import os
import signal
import smtplib
import ssl
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from email.message import EmailMessage
from email.utils import formatdate
from http.client import HTTPException, InvalidURL
from types import FrameType
from typing import NoReturn

from flowsweep.alarms.delivery.message import Message
from flowsweep.plan.alarms.model import Alarms, Mail

WAIT_S = 10.0
"""For each answer of a server."""
DEADLINE_S = 30.0
"""For a whole delivery."""
_ANSWER_BYTES = 4096
_SAID_BYTES = 300


class UndeliveredError(Exception):
    """A message did not go, or it is not known that it did; says why."""


class UnreachableError(UndeliveredError):
    """Nobody answered, or not in time: nor is anybody likely to answer the next message by this way."""


def deliver(message: Message, target: str, alarms: Alarms) -> str | None:
    """Send a message by one of the ways of a plan.

    To be called in the main thread of a process, whose alarm clock (`SIGALRM`) bounds it.

    Returns:
        What is to be known of a message that went: whom of several a server refused.

    Raises:
        UnreachableError: Nobody answered, or not in time.
        UndeliveredError: It did not go for another reason, or that is not known.
    """
    try:
        with _bounded():
            match target:
                case "webhook":
                    _post(message, _address(alarms))
                case "command":
                    _start(message, alarms.command)
                case "mail" if alarms.mail is not None:
                    return _mail(message, alarms.mail)
                case _:
                    raise UndeliveredError(f"the plan has no {target}")
    except TimeoutError as error:
        raise UnreachableError(str(error) or "no answer in time") from error
    except InvalidURL as error:
        # Its words have a piece of the address, which may be a password.
        raise UndeliveredError("the address cannot be used") from error
    except (OSError, HTTPException, smtplib.SMTPException, ValueError) as error:
        kind = UnreachableError if _is_away(error) else UndeliveredError
        raise kind(f"{type(error).__name__}: {error}"[:_SAID_BYTES]) from error
    return None


def _is_away(error: Exception) -> bool:
    if isinstance(error, smtplib.SMTPException):
        return isinstance(error, (smtplib.SMTPConnectError, smtplib.SMTPServerDisconnected))
    return isinstance(error, OSError)


@contextmanager
def _bounded() -> Iterator[None]:
    """Raise TimeoutError in the block when its time is over; a server may send a byte a second for ever."""
    before = signal.signal(signal.SIGALRM, _too_late)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _too_late(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"not over after {DEADLINE_S:g} s")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A message goes where the plan says, and nowhere else."""

    def redirect_request(self, *_: object) -> None:
        """Follow none: the answer counts as it is."""


def _address(alarms: Alarms) -> str:
    if alarms.webhook is not None:
        return alarms.webhook
    found = _variable(alarms.webhook_env)
    if not found.startswith(("http://", "https://")):
        raise UndeliveredError(
            f"the environment variable {alarms.webhook_env} holds no http or https address"
        )
    return found


def _variable(name: str | None) -> str:
    found = os.environ.get(name or "")
    if not found:
        raise UndeliveredError(f"the environment variable {name} is not set")
    return found


def _post(message: Message, address: str) -> None:
    request = urllib.request.Request(
        address,
        data=message.as_bytes(),
        headers={
            "Content-Type": "application/json",
            "User-Agent": "flowsweep",
            "Idempotency-Key": message.identity,
        },
        method="POST",
    )
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        answer = opener.open(request, timeout=WAIT_S)
    except urllib.error.HTTPError as error:
        error.close()
        raise UndeliveredError(f"the server answered {error.code}") from error
    # It has the message: what becomes of the rest of its answer does not matter.
    with answer, suppress(OSError, HTTPException):
        answer.read(_ANSWER_BYTES)


def _start(message: Message, command: Sequence[str]) -> None:
    """Start a program without a shell. What it prints is not kept, but for the end of its standard error."""
    variables = {
        "FLOWSWEEP_ALARM_KEY": message.identity,
        "FLOWSWEEP_ALARM_MOMENT": message.moment,
        "FLOWSWEEP_ALARM_KIND": message.alarm.kind,
        "FLOWSWEEP_ALARM_TEXT": message.text,
    }
    # A group of its own, so that what it starts is ended with it. Standard error is a file: what it leaves
    # running would keep a pipe open.
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=os.environ | variables,
            start_new_session=True,
        ) as program,
    ):
        try:
            program.communicate(message.as_bytes(), timeout=DEADLINE_S)
        except (TimeoutError, subprocess.TimeoutExpired) as error:
            raise UnreachableError(
                f"the command was not over after {DEADLINE_S:g} s and was ended"
            ) from error
        finally:
            with suppress(ProcessLookupError):
                if program.returncode is None:
                    os.killpg(program.pid, signal.SIGKILL)
        if program.returncode != 0:
            end = _end_of(said.fileno())
            raise UndeliveredError(f"the command ended with {program.returncode}{f': {end}' if end else ''}")


def _end_of(file: int) -> str:
    behind = os.fstat(file).st_size
    return os.pread(file, _SAID_BYTES, max(0, behind - _SAID_BYTES)).decode(errors="replace").strip()


def _mail(message: Message, mail: Mail) -> str | None:
    letter = EmailMessage()
    letter["From"], letter["To"] = mail.sender, ", ".join(mail.to)
    letter["Subject"] = message.subject
    letter["Date"] = formatdate()
    letter["Message-ID"] = f"<{message.identity}.flowsweep@{mail.sender.rpartition('@')[2]}>"
    letter.set_content(f"{message.text}\n")
    letter.add_attachment(message.as_bytes(), maintype="application", subtype="json", filename="alarm.json")
    context = ssl.create_default_context()
    with closing(
        smtplib.SMTP_SSL(mail.host, mail.port, timeout=WAIT_S, context=context)
        if mail.encryption == "tls"
        else smtplib.SMTP(mail.host, mail.port, timeout=WAIT_S)
    ) as server:
        if mail.encryption == "starttls":
            server.starttls(context=context)
        if mail.user is not None:
            server.login(mail.user, _variable(mail.password_env))
        refused = server.send_message(letter)
        # It has the letter, however it takes its leave.
        with suppress(OSError, smtplib.SMTPException):
            server.quit()
    # The others have it: they would get it once more. A server that refuses all raises.
    return f"the server refused {', '.join(refused)}" if refused else None
