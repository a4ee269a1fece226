"""TCP, as an engine is asked for it."""

from flowsweep.defaults import MICROSECOND_NS, PER_MILLION
from flowsweep.hosts.messages import TcpTest, Until
from flowsweep.run.requests import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, bulk_settings, sample_rows
from flowsweep.schedule.tests.tcp import TcpParameters


def tcp_settings(parameters: TcpParameters, role: EndRole, pad_ns: int) -> TcpTest:
    """What one end of a pair of hosts is asked to do."""
    return TcpTest(
        **bulk_settings(parameters, role, pad_ns),
        drain_timeout_us=parameters.drain_timeout_ns // MICROSECOND_NS,
        congestion=parameters.congestion,
        pacing_rate_bps=parameters.pacing_rate_bps,
        mss_bytes=parameters.mss_bytes,
        no_delay=parameters.no_delay,
        fwmark=parameters.fwmark,
        encryption=parameters.encryption,
        mode=parameters.mode,
        until=_until(parameters),
    )


def _until(parameters: TcpParameters) -> Until | None:
    until = parameters.until
    if until is None:
        return None
    return Until(
        half_width_ppm=round(until.share * PER_MILLION),
        at_least_us=until.at_least_ns // MICROSECOND_NS,
        omit_us=parameters.omit_ns // MICROSECOND_NS,
        interval_us=parameters.interval_ns // MICROSECOND_NS,
    )


def tcp_table_bytes(parameters: TcpParameters, run_s: float, _: int) -> float:
    """What samples take."""
    return sample_rows(parameters, run_s) * SAMPLE_BYTES
