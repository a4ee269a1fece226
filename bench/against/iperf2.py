"""iperf 2 (https://sourceforge.net/projects/iperf2): one thread per flow at both ends."""

import re

from against.contender import Sending
from against.path import CONGESTION
from against.tool import Peer, says, version_in

_RECEIVED = re.compile(r"^\[\s*(?P<flow>\d+|SUM)\].*?(?P<bps>\d+) bits/sec", re.MULTILINE)


class Iperf2:
    """How iperf 2 is called and what it says."""

    port = 5001
    server_ends = False

    def server(self, program: str, length_bytes: int) -> tuple[str, ...]:
        """The length of reads is the server's own option."""
        return (program, "-s", "-l", str(length_bytes), "-f", "b")

    def client(
        self, program: str, address: str, sending: Sending, options: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Without reports between."""
        flows, length = str(sending.flows), str(sending.length_bytes)
        settings = ("-t", f"{sending.seconds:.1f}", "-P", flows, "-l", length, "-Z", CONGESTION)
        return (program, "-c", address, *settings, "-f", "b", *options)

    def received_bps(self, client_said: str, server_said: str) -> float:
        """The server's sum, or its only flow."""
        del client_said
        rates = {match["flow"]: float(match["bps"]) for match in _RECEIVED.finditer(server_said)}
        if not rates:
            raise ValueError("its server names no rate")
        return rates["SUM"] if "SUM" in rates else sum(rates.values())


def iperf2_peers(program: str, name: str | None = None) -> list[Peer]:
    """The contender that an iperf 2 makes; none if the program is something else."""
    version = version_in(says((program, "--version")), r"^iperf version (2\S*)")
    return [] if version is None else [Peer(name or f"iperf {version}", "copy", program, Iperf2())]
