"""From a trial of the schedule to what each engine is asked."""

from typing import Literal

from flowsweep.defaults import CONNECT_TIMEOUT_NS, MICROSECOND_NS, SILENCE_TIMEOUT_NS
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import Connect, Listen, PortRange, TcpSettings
from flowsweep.schedule.trial import Trial

EndRole = Literal["source", "sink"]


def tcp_settings(trial: Trial, role: EndRole) -> TcpSettings:
    """The settings of one end's flows to one peer."""
    parameters = trial.parameters
    window = parameters.window_send_bytes if role == "source" else parameters.window_recv_bytes
    return TcpSettings(
        flows=parameters.flows,
        length_bytes=parameters.length_bytes,
        window_bytes=window,
        clip_allowed=parameters.clip_allowed,
        congestion=parameters.congestion,
        duration_us=parameters.duration_ns // MICROSECOND_NS,
        pad_us=trial.pad_ns // MICROSECOND_NS,
        sample_interval_us=parameters.sample_interval_ns // MICROSECOND_NS,
        connect_timeout_us=CONNECT_TIMEOUT_NS // MICROSECOND_NS,
        drain_timeout_us=parameters.drain_timeout_ns // MICROSECOND_NS,
        silence_timeout_us=SILENCE_TIMEOUT_NS // MICROSECOND_NS,
        rate_bps=parameters.rate_bps,
        pacing_rate_bps=parameters.pacing_rate_bps,
        mss_bytes=parameters.mss_bytes,
        dscp=parameters.dscp,
        no_delay=parameters.no_delay,
        cpus=list(parameters.affinity),
        family=parameters.family,
        mode=parameters.mode,
    )


def listen(access: HostAccess) -> Listen:
    """How a host waits for the other end."""
    ports = None if access.ports is None else PortRange(first=access.ports[0], last=access.ports[1])
    return Listen(bind=access.bind, ports=ports)


def connect(access: HostAccess, address: str, port: int) -> Connect:
    """How a host goes to the other end."""
    return Connect(address=address, port=port, bind=access.bind)


def address_for(listener: HostAccess, peer: str, family: int | None) -> str | None:
    """Where a peer reaches a listening host with this IP version; its first address if any will do."""
    addresses = listener.addresses.get(peer, ())
    suitable = (known.address for known in addresses if family is None or known.family in (None, family))
    return next(suitable, None)
