"""iperf3 (https://github.com/esnet/iperf): one thread for all flows before 3.16, one per flow since."""

import json
import math

from against.contender import Kind, Sending
from against.path import CONGESTION
from against.tool import Peer, says, version_in

ZEROCOPY = "-Z"
SKIP_COPY = "--skip-rx-copy"


class Iperf3:
    """How iperf3 is called and what it says."""

    port = 5201
    server_ends = True

    def server(self, program: str, length_bytes: int) -> tuple[str, ...]:
        """It learns the length from its client."""
        del length_bytes
        return (program, "-s", "-1", "-i", "0", "-J")

    def client(
        self, program: str, address: str, sending: Sending, options: tuple[str, ...]
    ) -> tuple[str, ...]:
        """Without reports between; whole seconds only."""
        flows, length = str(sending.flows), str(sending.length_bytes)
        settings = ("-t", str(math.ceil(sending.seconds)), "-P", flows, "-l", length, "-C", CONGESTION)
        return (program, "-c", address, *settings, "-i", "0", "-J", *options)

    def received_bps(self, client_said: str, server_said: str) -> float:
        """`sum_received` of the client's JSON, which the server told it."""
        del server_said
        document = json.loads(client_said)
        if "error" in document:
            raise ValueError(document["error"])
        end = document["end"]
        if end["sender_tcp_congestion"] != CONGESTION:
            raise ValueError(f"it ran with {end['sender_tcp_congestion']} in place of {CONGESTION}")
        return float(end["sum_received"]["bits_per_second"])


def iperf3_peers(program: str, name: str | None = None) -> list[Peer]:
    """The contenders that one iperf3 makes; none if the program is something else."""
    version = version_in(says((program, "--version")), r"^iperf (3\S*)")
    if version is None:
        return []
    name = name or f"iperf3 {version}"
    tool = Iperf3()
    variants: list[tuple[Kind, tuple[str, ...]]] = [("copy", ()), ("zerocopy", (ZEROCOPY,))]
    if SKIP_COPY in says((program, "--help")):
        variants += [("discard", (SKIP_COPY,)), ("discard", (ZEROCOPY, SKIP_COPY))]
    return [Peer(" ".join((name, *options)), kind, program, tool, options) for kind, options in variants]
