"""One pair of hosts of a trial: its two ends, and how they meet."""

import secrets

from flowsweep.defaults import (
    CONNECT_TIMEOUT_NS,
    IPERF3_BUSY_FOR_NS,
    IPERF3_WORDS_NS,
    MICROSECOND_NS,
    SECOND_NS,
)
from flowsweep.errors import LaunchError
from flowsweep.hosts.iperf3 import login_of
from flowsweep.hosts.messages import Connect, Iperf3, Iperf3Login, Listen, Prepare
from flowsweep.plan.model import Iperf3Peer, QuicPerfPeer, ServerPeer
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.engines import HostSession
from flowsweep.run.far_end import FarEnd, NearEnd
from flowsweep.run.first_failure import all_of
from flowsweep.run.outcome import EndRole
from flowsweep.run.requests import address_for, connect, family_for, listen
from flowsweep.run.tests.bulk import window_of
from flowsweep.run.tests.registry import settings_of
from flowsweep.run.traffic import Traffic
from flowsweep.run.trial_end import TrialEnd
from flowsweep.schedule.parameters import Bulk

_TOKEN_BYTES = 16


class Pair:
    """A source and a sink of a trial, with the flows between them."""

    def __init__(
        self, traffic: Traffic, source: HostSession, sink: HostSession, deadlines: Deadlines
    ) -> None:
        self.traffic = traffic
        self.sender = _end(traffic, "source", source, sink, deadlines)
        self.receiver = _end(traffic, "sink", sink, source, deadlines)
        for near, far in (self.ends, self.ends[::-1]):
            if isinstance(near, NearEnd) and isinstance(far, FarEnd):
                near.far = far

    @property
    def server(self) -> ServerPeer | None:
        """The server at one end; absent where both have engines."""
        return self.sender.access.server or self.receiver.access.server

    @property
    def longest_run_ns(self) -> int:
        """What the engines allow themselves from the start on."""
        words_ns = IPERF3_WORDS_NS if isinstance(self.server, Iperf3Peer) else 0
        return self.traffic.longest_run_ns + words_ns

    @property
    def ends(self) -> tuple[TrialEnd, TrialEnd]:
        """The end that sends, and the one that receives."""
        return self.sender, self.receiver

    async def meet(self) -> None:
        """Have both ends get ready, and wait until all flows between them stand; raises TrialError."""
        server = self.server
        if server is not None:
            await (self._go_to(server) if isinstance(server, Iperf3Peer) else self._go_to_perf(server))
            return
        listener, connector = self.ends[:: -1 if self.receiver.access.listens else 1]
        if not listener.access.listens:
            names = " nor ".join(end.access.name for end in self.ends)
            message = f"neither {names} can be reached from outside"
            raise listener.error("prepare", "nobody_listens", message)
        address = self._address(listener, connector)
        token, answer = secrets.token_hex(_TOKEN_BYTES), secrets.token_hex(_TOKEN_BYTES)

        def request(end: TrialEnd, rendezvous: Listen | Connect) -> Prepare:
            parameters, name = self.traffic.parameters, self.traffic.name
            if end is connector:
                family = family_for(listener.access, parameters.family)
                parameters = parameters.model_copy(update={"family": family})
            test = settings_of(parameters, end.role, self.traffic.pad_ns, end.access)
            return Prepare(
                trial=name, role=end.role, token=token, answer=answer, rendezvous=rendezvous, test=test
            )

        await listener.prepare(request(listener, listen(listener.access)))
        timeout_s = self.traffic.parameters.connect_ns / SECOND_NS
        port = await listener.listening(timeout_s)
        await connector.prepare(request(connector, connect(connector.access, address, port, listener.access)))
        await all_of([end.connected(timeout_s) for end in self.ends])

    async def _go_to_perf(self, server: QuicPerfPeer) -> None:
        """Have the end with an engine connect to the QUIC perf server."""
        near, far = self._near_and_far()
        test = settings_of(self.traffic.parameters, near.role, self.traffic.pad_ns, near.access)
        await near.prepare(
            Prepare(
                trial=self.traffic.name,
                role=near.role,
                token=secrets.token_hex(_TOKEN_BYTES),
                answer=secrets.token_hex(_TOKEN_BYTES),
                rendezvous=connect(near.access, self._address(far, near), server.port),
                test=test.model_copy(update={"perf": True}),
            )
        )
        await near.connected(self.traffic.parameters.connect_ns / SECOND_NS)

    def _near_and_far(self) -> tuple[TrialEnd, TrialEnd]:
        """The end with an engine, and the one that is a server."""
        return self.ends if isinstance(self.receiver, FarEnd) else self.ends[::-1]

    async def _go_to(self, server: Iperf3Peer) -> None:
        """Have the end with an engine open a test of the iperf3 server's."""
        near, far = self._near_and_far()
        parameters = self.traffic.parameters
        try:
            login = login_of(far.access.name, server)
        except LaunchError as error:
            raise far.error("prepare", "iperf3_login", error.reason) from error
        window_bytes = window_of(parameters, far.role)
        about = Iperf3(
            login=None if login is None else Iperf3Login(**login._asdict()),
            window_bytes=window_bytes,
            omit_s=parameters.omit_ns // SECOND_NS if isinstance(parameters, Bulk) else 0,
            together_with=self.traffic.together_with,
            busy_timeout_us=IPERF3_BUSY_FOR_NS // MICROSECOND_NS,
        )
        await near.prepare(
            Prepare(
                trial=self.traffic.name,
                role=near.role,
                token=secrets.token_hex(_TOKEN_BYTES),
                answer=secrets.token_hex(_TOKEN_BYTES),
                rendezvous=connect(near.access, self._address(far, near), server.port),
                test=settings_of(parameters, near.role, self.traffic.pad_ns, near.access),
                iperf3=about,
            )
        )
        # A server takes the flows of a test one after the other.
        longest_ns = IPERF3_BUSY_FOR_NS + IPERF3_WORDS_NS + parameters.flows * CONNECT_TIMEOUT_NS
        await near.connected(longest_ns / SECOND_NS)

    def _address(self, listener: TrialEnd, connector: TrialEnd) -> str:
        family = family_for(listener.access, self.traffic.parameters.family)
        address = address_for(listener.access, connector.access.name, family)
        if address is None:
            wanted = "" if family is None else f"IPv{family} "
            message = f"no {wanted}address is known where {connector.access.name} reaches it"
            raise listener.error("prepare", "no_address", message)
        return address


def _end(
    traffic: Traffic, role: EndRole, session: HostSession, peer: HostSession, deadlines: Deadlines
) -> TrialEnd:
    if session.access.server is not None:
        kind: type[TrialEnd] = FarEnd
    else:
        kind = TrialEnd if peer.access.server is None else NearEnd
    return kind(traffic, role, session, peer.access.name, deadlines)
