"""What the engine at one end of a trial may say of it, from what it was asked to do."""

from dataclasses import dataclass

from flowsweep.defaults import (
    SECOND_NS,
    TRANSFER_LEAST_S,
    TRANSFER_MOST_S,
    TRANSFER_SLOWEST_BYTES_PER_S,
    TRIAL_BYTES_LEAST,
    TRIAL_BYTES_MOST,
    TRIAL_EVENTS_LEAST,
)
from flowsweep.hosts.inbox import Allowance
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.registry import RUN_TESTS
from flowsweep.run.traffic import Traffic

_CPU_BYTES = 160
"""Of a row as Arrow, rounded up well."""
_CPU_LOOKS_PER_SECOND = 10
_EVENTS_PER_SECOND = 2


@dataclass(frozen=True, slots=True)
class _Unasked:
    """What decides how much is reported, and was not asked for."""

    cores: int
    histogram_rows: int
    """Of one flow."""


_MOST = _Unasked(cores=512, histogram_rows=16_384)
_USUAL = _Unasked(cores=16, histogram_rows=1024)


def allowance_of(traffic: Traffic, role: EndRole) -> Allowance:
    """Bounds of what one end of some traffic may say, and of the time that it may take over it."""
    run_s = (traffic.longest_run_ns + traffic.parameters.connect_ns) / SECOND_NS
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
    return cpu + RUN_TESTS[parameters.test].table_bytes(parameters, run_s, unasked.histogram_rows)
