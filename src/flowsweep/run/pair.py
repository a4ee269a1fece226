"""One pair of hosts of a trial: its two ends, and how they meet."""

import secrets

from flowsweep.defaults import CONNECT_TIMEOUT_NS, SECOND_NS
from flowsweep.hosts.messages import Connect, Listen, Prepare
from flowsweep.run.end import Deadlines, TrialEnd
from flowsweep.run.engines import Place
from flowsweep.run.requests import address_for, connect, listen
from flowsweep.run.settings import settings_of
from flowsweep.run.together import all_of
from flowsweep.run.traffic import Traffic

_TOKEN_BYTES = 16


class Pair:
    """A source and a sink of a trial, with the flows between them."""

    def __init__(self, traffic: Traffic, source: Place, sink: Place, deadlines: Deadlines) -> None:
        self.traffic = traffic
        self.sender = TrialEnd(traffic.name, "source", source, sink.access.name, deadlines)
        self.receiver = TrialEnd(traffic.name, "sink", sink, source.access.name, deadlines)

    @property
    def ends(self) -> tuple[TrialEnd, TrialEnd]:
        """The end that sends, and the one that receives."""
        return self.sender, self.receiver

    async def meet(self) -> None:
        """Have both ends get ready, and wait until all flows between them stand; raises TrialError."""
        listener, connector = self.ends[:: -1 if self.receiver.access.listens else 1]
        if not listener.access.listens:
            names = " nor ".join(end.access.name for end in self.ends)
            message = f"neither {names} can be reached from outside"
            raise listener.error("prepare", "nobody_listens", message)
        address = self._address(listener, connector)
        token, answer = secrets.token_hex(_TOKEN_BYTES), secrets.token_hex(_TOKEN_BYTES)

        def request(end: TrialEnd, meeting: Listen | Connect) -> Prepare:
            test = settings_of(self.traffic.parameters, end.role, self.traffic.pad_ns)
            name = self.traffic.name
            return Prepare(trial=name, role=end.role, token=token, answer=answer, meeting=meeting, test=test)

        await listener.prepare(request(listener, listen(listener.access)))
        port = await listener.listening()
        await connector.prepare(request(connector, connect(connector.access, address, port)))
        timeout_s = CONNECT_TIMEOUT_NS / SECOND_NS
        await all_of([end.connected(timeout_s) for end in self.ends])

    def _address(self, listener: TrialEnd, connector: TrialEnd) -> str:
        family = self.traffic.parameters.family
        address = address_for(listener.access, connector.access.name, family)
        if address is None:
            wanted = "" if family is None else f"IPv{family} "
            message = f"no {wanted}address is known where {connector.access.name} reaches it"
            raise listener.error("prepare", "no_address", message)
        return address
