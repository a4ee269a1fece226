"""Whether more than the rate that was asked for is known to bring no more goodput."""

import math
from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.verdicts import PATH_NOT_FULL
from flowsweep.packets import udp_header_bytes
from flowsweep.report.goodput_words import first_bps
from flowsweep.tests import facts_of

_IPV4 = 4
_SAME_WAY = ("sweep", "src", "dst")


def nothing_more(own: Sequence[TrialRow], trials: Sequence[TrialRow]) -> bool:
    """Whether it is known that a higher rate brings no more: the link is full, or more was asked for.

    Args:
        own: Trials of one point, at least one.
        trials: All of the campaign.
    """
    share, asked_bps = _share_of_path(own), _asked_bps(own[0])
    if share is not None and share >= PATH_NOT_FULL:
        return True
    reached_bps = max(first_bps(row) or 0.0 for row in own)
    # Smaller datagrams carry less at any rate.
    alike = (*_SAME_WAY, "length_bytes") if facts_of(own[0]["test"]).datagrams else _SAME_WAY
    return any(
        (_asked_bps(row) or 0.0) > (asked_bps or math.inf) and (first_bps(row) or 0.0) <= reached_bps
        for row in trials
        if all(row.get(name) == own[0].get(name) for name in alike)
    )


def share_of_link(own: Sequence[TrialRow]) -> float | None:
    """Goodput over whole trials as a share of what the plan's link carries; bins may hold a little more."""
    link_bps = own[0].get("link_payload_bps")
    return min(1.0, _reached_bps(own) / link_bps) if link_bps else None


def _share_of_path(own: Sequence[TrialRow]) -> float | None:
    """As `share_of_link`; of datagrams and QUIC, whose payload of a link is not told, with their headers."""
    path_bps = own[0].get("path_rate_bps")
    if own[0].get("link_payload_bps") or not path_bps:
        return share_of_link(own)
    return _reached_bps(own) * _packet_bytes_per_byte(own[0]) / path_bps


def _reached_bps(own: Sequence[TrialRow]) -> float:
    return median([found for row in own if (found := first_bps(row)) is not None])


def _packet_bytes_per_byte(row: TrialRow) -> float:
    """How many bytes of IP packets a byte of payload takes, at least; of QUIC without those of IP and UDP."""
    length_bytes, extra_percent = row.get("length_bytes"), row.get("quic_overhead_percent")
    if facts_of(row["test"]).datagrams and length_bytes:
        return (length_bytes + udp_header_bytes(row.get("family") or _IPV4)) / length_bytes
    return 1.0 if extra_percent is None else 1 + extra_percent / 100


def _asked_bps(row: TrialRow) -> float | None:
    """What all flows of a trial were to send at most."""
    rates = [rate for rate in (row.get("rate_bps"), row.get("pacing_rate_bps")) if rate]
    return min(rates) * (row["flows"] or 1) if rates else row.get("rate_sum_bps")
