"""TCP, as an engine is asked for it."""

from flowsweep.defaults import MICROSECOND_NS, PER_MILLION
from flowsweep.hosts.messages import TcpTest, Until
from flowsweep.run.outcome import EndRole
from flowsweep.run.tests.bulk import SAMPLE_BYTES, sample_rows, tcp_fields
from flowsweep.schedule.tests.tcp import TcpParameters


def tcp_settings(parameters: TcpParameters, role: EndRole, pad_ns: int) -> TcpTest:
    """What one end of a pair of hosts is asked to do."""
    return TcpTest(
        **tcp_fields(parameters, role, pad_ns),
        pacing_rate_bps=parameters.pacing_rate_bps,
        mss_bytes=parameters.mss_bytes,
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
