"""What a service tells systemd: that it is ready, that it lives, what it does (sd_notify(3))."""

import os
import socket
from contextlib import suppress

from flowsweep.defaults import SECOND_US

_ADDRESS = "NOTIFY_SOCKET"
_HANDED_ON = "FLOWSWEEP_NOTIFY_FD"


class Notifier:
    """Sends to the socket that systemd names in the environment; does nothing where it names none."""

    def __init__(self) -> None:
        self._address = os.environ.get(_ADDRESS, "")
        self._handed_on = _taken_over()

    def tell(self, *lines: str) -> None:
        """Send lines of the form `NAME=value`."""
        if not self._address:
            return
        message = "\n".join(lines).encode()
        # A service manager that is away or busy is told the next time.
        with suppress(OSError):
            if self._handed_on is not None:
                os.write(self._handed_on, message)
                return
            with _connected(self._address) as sender:
                sender.send(message)

    @property
    def watchdog_s(self) -> float | None:
        """How often it wants to hear that the service lives, in seconds; absent if it does not."""
        asked = os.environ.get("WATCHDOG_USEC", "")
        meant = os.environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        return int(asked) / SECOND_US / 2 if asked.isascii() and asked.isdecimal() and meant else None


def hand_on_the_socket() -> None:
    """Connect to systemd for the program that takes this one's place where /run is another folder."""
    address = os.environ.get(_ADDRESS, "")
    if address:
        with suppress(OSError):
            number = _connected(address).detach()
            os.set_inheritable(number, True)  # noqa: FBT003 - has no name for it
            os.environ[_HANDED_ON] = str(number)


def _taken_over() -> int | None:
    """The file descriptor of the socket that the program before this one connected; no child gets it."""
    number = os.environ.pop(_HANDED_ON, "")
    if not (number.isascii() and number.isdecimal()):
        return None
    with suppress(OSError):
        os.set_inheritable(int(number), False)  # noqa: FBT003 - has no name for it
        return int(number)
    return None


def _connected(address: str) -> socket.socket:
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    try:
        sender.settimeout(0)
        sender.connect("\0" + address[1:] if address.startswith("@") else address)
    except OSError:
        sender.close()
        raise
    return sender
