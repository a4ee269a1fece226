"""What a plan says of alarms, checked."""

from typing import Literal

from flowsweep.frozen import Frozen

Kind = Literal["shift", "loss", "silent"]
Encryption = Literal["starttls", "tls", "none"]


class Mail(Frozen):
    """Where mail goes, and by which server."""

    to: tuple[str, ...]
    sender: str
    host: str
    port: int
    encryption: Encryption
    user: str | None
    password_env: str | None
    """Name of the environment variable that holds the password."""


class Alarms(Frozen):
    """`[alarms]`."""

    watch: tuple[Kind, ...]
    false_alarms_per_100_days: float
    """Of each path and direction, of shifts and loss together, where nothing changes."""
    webhook: str | None
    webhook_env: str | None
    """Name of the environment variable that holds the address, where that is a secret."""
    command: tuple[str, ...]
    mail: Mail | None

    @property
    def targets(self) -> tuple[str, ...]:
        """Where alarms go."""
        there = {
            "webhook": self.webhook is not None or self.webhook_env is not None,
            "command": bool(self.command),
            "mail": self.mail is not None,
        }
        return tuple(name for name, is_there in there.items() if is_there)
