"""The bounds of what a file may say: anything beyond fits no column of an archive, and is no measurement."""

import math
from collections.abc import Iterator

from flowsweep.imports.transfer import Report, Transfer

_LARGEST = 1 << 62
_MOST_FLOWS = 1_000_000
_LARGEST_PORT = 65_535


def within_range(transfer: Transfer) -> bool:
    """Whether all numbers of a transfer can be kept."""
    far = transfer.far
    rates = [transfer.total.rate_bps, *(() if far is None else (far.rate_bps,))]
    ports = [port for flow in transfer.flows for port in (flow.source_port, flow.sink_port)]
    return (
        all(0 <= number < _LARGEST for number in _numbers(transfer) if number is not None)
        and all(math.isfinite(rate) for rate in rates + [report.rate_bps for report in _reports(transfer)])
        and all(port <= _LARGEST_PORT for port in ports if port is not None)
        and (transfer.flow_count or 1) <= _MOST_FLOWS
    )


def _numbers(transfer: Transfer) -> Iterator[int | None]:
    yield transfer.flow_count
    yield transfer.window_send_bytes
    yield transfer.window_recv_bytes
    yield transfer.window_granted_send_bytes
    yield transfer.window_granted_recv_bytes
    yield transfer.length_bytes
    yield transfer.duration_ns
    yield transfer.rate_bps
    for report in _reports(transfer):
        yield from (report.start_ns, report.end_ns, report.size_bytes)
        if report.datagrams is not None:
            told = report.datagrams
            yield from (told.count, told.missing, told.reordered, told.jitter_ns)


def _reports(transfer: Transfer) -> Iterator[Report]:
    yield transfer.total
    for flow in (*transfer.flows, *(() if transfer.far is None else transfer.far.flows)):
        yield flow.whole
        yield from flow.intervals
