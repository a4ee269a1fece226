"""nuttcp (https://nuttcp.net): one thread for all flows. It cannot name a congestion control."""

import math
import re

from against.contender import Sending
from against.tool import Peer, says, version_in

_RATE = re.compile(r"rate_Mbps=(?P<mbps>[0-9.]+)")


class Nuttcp:
    """How nuttcp is called and what it says."""

    port = 5000
    server_ends = True

    def server(self, program: str, length_bytes: int) -> tuple[str, ...]:
        """It learns the length from its client."""
        del length_bytes
        return (program, "-1", "--nofork")

    def client(
        self, program: str, address: str, sending: Sending, options: tuple[str, ...]
    ) -> tuple[str, ...]:
        """`-t`: the client transmits; whole seconds only."""
        settings = (f"-T{math.ceil(sending.seconds)}", f"-N{sending.flows}", f"-l{sending.length_bytes}")
        return (program, "-t", *settings, "-fparse", *options, address)

    def received_bps(self, client_said: str, server_said: str) -> float:
        """The client's last line, of what the server got."""
        del server_said
        match = _RATE.search(client_said)
        if match is None:
            raise ValueError("it names no rate")
        return float(match["mbps"]) * 1e6


def nuttcp_peers(program: str, name: str | None = None) -> list[Peer]:
    """The contender that a nuttcp makes; none if the program is something else."""
    version = version_in(says((program, "-V")), r"^nuttcp-(\S+)")
    return [] if version is None else [Peer(name or f"nuttcp {version}", "copy", program, Nuttcp())]
