"""What a service tells systemd: that it is ready, that it lives, what it does (sd_notify(3))."""

import os
import socket

from flowsweep.defaults import SECOND_US


class Notifier:
    """Sends to the socket that systemd names in the environment; does nothing where it names none."""

    def __init__(self) -> None:
        self._address = os.environ.get("NOTIFY_SOCKET", "")

    def tell(self, *lines: str) -> None:
        """Send lines of the form `NAME=value`."""
        if not self._address:
            return
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.settimeout(0)
            try:
                sender.sendto("\n".join(lines).encode(), address)
            except OSError:
                return  # a service manager that is away or busy is told the next time

    @property
    def watchdog_s(self) -> float | None:
        """How often it wants to hear that the service lives, in seconds; absent if it does not."""
        asked = os.environ.get("WATCHDOG_USEC", "")
        meant = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        return int(asked) / SECOND_US / 2 if asked.isascii() and asked.isdecimal() and meant else None
