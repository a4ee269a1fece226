"""What the engine at one end of a trial may say of it, from what it was asked to do."""

from dataclasses import dataclass

from flowsweep.defaults import (
    CONNECT_TIMEOUT_NS,
    SECOND_NS,
    TRANSFER_LEAST_S,
    TRANSFER_MOST_S,
    TRANSFER_SLOWEST_BYTES_PER_S,
    TRIAL_BYTES_LEAST,
    TRIAL_BYTES_MOST,
    TRIAL_EVENTS_LEAST,
)
from flowsweep.hosts.report_limits import Allowance
from flowsweep.run.requests import EndRole
from flowsweep.run.traffic import Traffic
from flowsweep.schedule.parameters import PathParameters, RttParameters, TcpParameters, UdpParameters

# Bytes of one row as Arrow, rounded up well; the factors are what makes rows more than one would count.
_SAMPLE_BYTES = 1024
_CPU_BYTES = 160
_DATAGRAM_BYTES = 160
_HISTOGRAM_BYTES = 64
_ECHO_BYTES = 96
_POISSON_FACTOR = 2
_HOP_BYTES = 192
_HOP_TRIES = 3
_TRAIN_BYTES = 96
_TRAIN_GROWS_TO_PACKETS = 4096
_TRAINS_FACTOR = 2
_STREAM_TRIES = 4
_CPU_LOOKS_PER_SECOND = 10
_EVENTS_PER_SECOND = 2


@dataclass(frozen=True, slots=True)
class _Unasked:
    """What decides how much is told, and was not asked for."""

    cores: int
    histogram_rows: int
    """Of one flow."""


_MOST = _Unasked(cores=512, histogram_rows=16_384)
_USUAL = _Unasked(cores=16, histogram_rows=1024)


def allowance_of(traffic: Traffic, role: EndRole) -> Allowance:
    """Bounds of what one end of some traffic may say, and of the time that it may take over it."""
    run_s = (traffic.longest_run_ns + CONNECT_TIMEOUT_NS) / SECOND_NS
    transfer_s = TRANSFER_LEAST_S + _table_bytes(traffic, run_s, _USUAL) / TRANSFER_SLOWEST_BYTES_PER_S
    return Allowance(
        role=role,
        flows=traffic.parameters.flows,
        bytes=min(TRIAL_BYTES_LEAST + round(_table_bytes(traffic, run_s, _MOST)), TRIAL_BYTES_MOST),
        events=TRIAL_EVENTS_LEAST + round(run_s * _EVENTS_PER_SECOND),
        transfer_s=min(transfer_s, TRANSFER_MOST_S),
    )


def _table_bytes(traffic: Traffic, run_s: float, unasked: _Unasked) -> float:
    """What all tables of one end may take."""
    parameters = traffic.parameters
    cpu = run_s * _CPU_LOOKS_PER_SECOND * (unasked.cores + parameters.flows) * _CPU_BYTES
    match parameters:
        case TcpParameters() | UdpParameters():
            rows = parameters.flows * (run_s * SECOND_NS / parameters.sample_interval_ns + 2)
            if isinstance(parameters, UdpParameters):
                histograms = parameters.flows * unasked.histogram_rows * _HISTOGRAM_BYTES
                return cpu + rows * (_SAMPLE_BYTES + _DATAGRAM_BYTES) + histograms
            return cpu + rows * _SAMPLE_BYTES
        case RttParameters():
            return cpu + run_s * SECOND_NS / parameters.every_ns * _POISSON_FACTOR * _ECHO_BYTES
        case PathParameters():
            probes = parameters.ttl_max * parameters.probes * len(parameters.sizes_bytes) * _HOP_TRIES
            longest_train = max(parameters.train_packets, _TRAIN_GROWS_TO_PACKETS)
            trains = parameters.trains * _TRAINS_FACTOR * longest_train
            streams = parameters.streams * parameters.stream_rates * _STREAM_TRIES
            packets = trains + streams * parameters.stream_packets
            return cpu + probes * _HOP_BYTES + packets * _TRAIN_BYTES
