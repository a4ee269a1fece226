"""What theory says a transfer should reach. Each function names its source: docs/explanation/theory.md.

They take numbers or columns of Ibis alike, so that what is tested with a number is what runs over an archive.
Rates are in bit/s, times in seconds, sizes in bytes, losses as a share of segments.
"""

from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from flowsweep.prediction.congestion import CUBIC_BETA, CUBIC_C

if TYPE_CHECKING:
    import ibis.expr.types as ir

Number = TypeVar("Number", float, "ir.FloatingValue")

MATHIS_CONSTANT = 1.5**0.5
"""√(3/2): periodic loss, a window that grows by what was acknowledged, as Linux's does (RFC 3465)."""


def window_bps(window_bytes: Number, rtt_s: Number) -> Number:
    """Rate (bit/s) of a flow that sends a window each round trip.

    Args:
        window_bytes: What is in flight: the usable window, not the one asked for; of all flows together for
            their sum.
        rtt_s: Round-trip time.

    Source: RFC 6349, section 3.3.1 (it follows from RFC 9293: no more than a window is unacknowledged).
    """
    return window_bytes * 8 / rtt_s


def bandwidth_delay_bytes(rate_bps: Number, rtt_s: Number) -> Number:
    """Bytes that a path holds: the least window, of all flows together, that can fill it.

    Source: RFC 6349, section 3.3.1; RFC 1072.
    """
    return rate_bps * rtt_s / 8


def link_payload_bps(
    rate_bps: Number, packet_bytes: Number, headers_bytes: Number, framing_bytes: float = 0
) -> Number:
    """Payload (bit/s) that a link of a rate carries in full packets: the ideal TCP throughput of RFC 6349.

    Args:
        rate_bps: Of the link.
        packet_bytes: Of a full IP packet: the path's MTU.
        headers_bytes: See `flowsweep.packets.header_bytes`.
        framing_bytes: What the rate counts beside the packet; 0 where it is of IP packets, 38 for Ethernet.

    Source: RFC 6349, section 4.1.1 (there: 40 bytes of headers, without timestamps).
    """
    return rate_bps * (packet_bytes - headers_bytes) / (packet_bytes + framing_bytes)


def mathis_bps(mss_bytes: Number, rtt_s: Number, loss: Number, constant: float = MATHIS_CONSTANT) -> Number:
    """Rate (bit/s) that Reno's congestion avoidance reaches at random loss: MSS / RTT · C / √p.

    Args:
        mss_bytes: Payload of a full segment.
        rtt_s: Mean round-trip time.
        loss: Loss events (episodes of recovery) per segment sent, above 0.
        constant: √(3/2) if each segment is acknowledged, or the window grows by bytes; √(3/4) with delayed
            acknowledgements counted one by one.

    Source: Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance
    algorithm", Computer Communication Review 27(3), 1997, equation 3. It knows neither timeouts nor windows.
    """
    rate_bps: Number = mss_bytes * 8 / rtt_s * constant / _power(loss, 0.5)
    return rate_bps


def padhye_bps(
    mss_bytes: Number, rtt_s: Number, loss: Number, rto_s: Number, window_segments: Number, acked: float = 1
) -> Number:
    """Rate (bit/s) that Reno sends at, with timeouts and a receive window: the full model.

    Args:
        mss_bytes: Payload of a full segment.
        rtt_s: Mean round-trip time.
        loss: Loss events per segment sent, above 0 and below 1.
        rto_s: The first retransmission timeout of a sequence, T₀.
        window_segments: The receiver's window, W_m.
        acked: Segments for which the window grows like for one, b: 2 with delayed acknowledgements counted
            one by one, 1 where it grows by what was acknowledged, as Linux's does (RFC 3465).

    Source: Padhye, Firoiu, Towsley and Kurose, "Modeling TCP throughput: a simple model and its empirical
    validation", SIGCOMM 1998, equations 13, 24, 29 and 32.
    """
    p, b = loss, acked
    kept = 1 - p
    constant = (2 + b) / (3 * b)
    unlimited = constant + _power(8 * kept / (3 * b * p) + constant**2, 0.5)
    window = _least(unlimited, window_segments)
    timeout = _least(
        (1 - kept**3) * (1 + kept**3 * (1 - _power(kept, window - 3))) / (1 - _power(kept, window)), 1 + 0 * p
    )
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    growing = b / 2 * unlimited + 1
    held = b / 8 * window_segments + kept / (p * window_segments) + 2
    rounds = _either(unlimited < window_segments, growing, held)
    segments = kept / p + window + timeout / kept
    rate_bps: Number = mss_bytes * 8 * segments / (rtt_s * rounds + timeout * rto_s * backoff / kept)
    return rate_bps


def cubic_bps(mss_bytes: Number, rtt_s: Number, loss: Number) -> Number:
    """Rate (bit/s) that CUBIC reaches at a deterministic loss: of its two regions the faster one.

    Args:
        mss_bytes: Payload of a full segment.
        rtt_s: Mean round-trip time.
        loss: Loss events per segment sent, above 0.

    Source: RFC 9438, section 5, equation 6 for the average window of the cubic region, (C (3 + β) /
    (4 (1 - β)))^¼ · RTT^¾ / p^¾; section 4.3 for the Reno-friendly one, whose growth is chosen so that
    it has Reno's average window, √(3 / (2 p)).
    """
    scale = (CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))) ** 0.25
    cubic_segments = _power(rtt_s / loss, 0.75) * scale
    reno_segments = MATHIS_CONSTANT / _power(loss, 0.5)
    rate_bps: Number = (
        _either(cubic_segments > reno_segments, cubic_segments, reno_segments) * mss_bytes * 8 / rtt_s
    )
    return rate_bps


def tcp_efficiency_percent(sent_bytes: Number, retransmitted_bytes: Number) -> Number:
    """Share of what was sent that was not sent again, in percent.

    Args:
        sent_bytes: All payload that was sent, retransmissions included.
        retransmitted_bytes: What of it was sent again.

    Source: RFC 6349, section 4.2.
    """
    return (sent_bytes - retransmitted_bytes) * 100 / sent_bytes


def buffer_delay_percent(average_rtt_s: Number, baseline_rtt_s: Number) -> Number:
    """How much longer the round trip is during the transfer, in percent of the path's own.

    Args:
        average_rtt_s: Mean during the transfer.
        baseline_rtt_s: Of the path with its queues empty; the least that was seen comes close.

    Source: RFC 6349, section 4.3.
    """
    return (average_rtt_s - baseline_rtt_s) * 100 / baseline_rtt_s


def transfer_time_ratio(ideal_bps: Number, goodput_bps: Number) -> Number:
    """Time that a transfer took, as a multiple of the ideal one.

    Args:
        ideal_bps: From `link_payload_bps`.
        goodput_bps: Mean of the transfer. For the same bytes the ratio of times is that of the rates.

    Source: RFC 6349, section 4.1.
    """
    return ideal_bps / goodput_bps


def _least(one: Number, other: Number) -> Number:
    if isinstance(one, int | float):
        return min(one, other)
    # Only for columns: numbers are worked out without it, and sooner.
    least: Number = import_module("ibis").least(one, other)
    return least


def _either(condition: "bool | ir.BooleanValue", one: Number, other: Number) -> Number:
    if isinstance(condition, bool | np.bool_):
        return one if condition else other
    chosen: Number = condition.ifelse(one, other)
    return chosen


def _power(base: Number, exponent: "float | Number") -> Number:
    raised: Number = base**exponent
    return raised
