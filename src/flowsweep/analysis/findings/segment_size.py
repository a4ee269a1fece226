"""Are segments as large as both ends take, and what keeps them smaller?"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from flowsweep.analysis.findings.advice import HostFacts, recorded
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, Scope, trial_ids
from flowsweep.analysis.tests.tcp.segment_sizes import SegmentSizeRow
from flowsweep.wording import counted, direction_of

HEADER_BYTES = 72
"""Of IPv6 and TCP, with timestamps; of IPv4 they are 20 less."""
PROBING = "net.ipv4.tcp_mtu_probing"
_PROBES_NOT_AT_FIRST = ((0,), (1,))
WORTHWHILE = 1.1
"""Times as large as they are segments could be: less saves half a percent of headers, and hardly any CPU."""
_METHOD = (
    "TCP_INFO: segment size of the source at the start and at the end of each trial, its path MTU, and the "
    "MSS that the sink announces"
)
_described = partial(Hypothesis, "segment_size", method=_METHOD)

Cause = Literal["lost on the way", "path MTU", "ends unlike", "rewritten"]


@dataclass(frozen=True, slots=True)
class _Small:
    """A trial whose segments are smaller than they could be."""

    row: ObservedRow
    segments: SegmentSizeRow
    cause: Cause


def segment_hypotheses(
    campaign: Iterable[Observations], segments: Mapping[str, SegmentSizeRow], hosts: HostFacts | None
) -> list[Hypothesis]:
    """Describe what keeps segments smaller than the ends of a direction take, once for each direction.

    Args:
        campaign: Trials of each sweep and mode.
        segments: Rows of `segment_sizes`, by trial_id.
        hosts: What is recorded of the hosts.

    Returns:
        One description for each direction and cause. The effect is the least segment that trials ended with
        (unit "bytes"). None where the plan asks for an MSS, where a window of less than two packets makes the
        kernel send smaller ones (`tcp_bound_to_half_wnd`), where the source starts with small ones by its own
        setting, or may (`tcp_mtu_probing` 2, or not recorded), and where segments could not be 1.1 times as
        large.

    Method:
        What the source sends is bounded by the MSS that the sink announces and by the path's MTU, less
        headers (RFC 9293, section 3.7.1; RFC 1191). Segments that became smaller while the path's MTU stayed
        are those of a source that lost long packets and heard nothing of it (RFC 4821; `tcp_mtu_probing`).
    """
    found: dict[tuple[str, Cause], list[_Small]] = {}
    of: Counter[str] = Counter()
    scopes: dict[str, Scope] = {}
    for observed in campaign:
        for direction, rows in observed.by_direction(lambda row: _is_judged(row, segments)):
            of[direction] += len(rows)
            scopes.setdefault(direction, observed.scope(direction))
            for small in _small_ones(rows, segments, hosts):
                found.setdefault((direction, small.cause), []).append(small)
    return [
        _described(
            scopes[direction],
            _said(direction, small, of[direction]),
            trial_ids(one.row for one in small),
            Estimate(min(one.segments["mss_bytes"] for one in small), "bytes"),
        )
        for (direction, cause), small in found.items()
        if cause != "ends unlike" or (_way_back(small[0].row), "path MTU") not in found
    ]


def _way_back(row: ObservedRow) -> str:
    """The other direction: a host that has learned what the path there takes announces no more here."""
    return direction_of({**row, "src": row["dst"], "dst": row["src"]})


def _is_judged(row: ObservedRow, segments: Mapping[str, SegmentSizeRow]) -> bool:
    own = segments.get(row["trial_id"])
    if own is None or row.get("mss_bytes") is not None:
        return False
    window_bytes = own["window_bytes"]
    return window_bytes is None or window_bytes > 2 * own["path_mtu_bytes"]


def _small_ones(
    rows: Sequence[ObservedRow], segments: Mapping[str, SegmentSizeRow], hosts: HostFacts | None
) -> Iterator[_Small]:
    for row in rows:
        own = segments[row["trial_id"]]
        cause = _cause(own)
        # A source that probes starts with small segments whatever the path takes.
        probes = recorded(hosts, row["src"], PROBING) not in _PROBES_NOT_AT_FIRST
        if cause is not None and not (cause == "rewritten" and probes):
            yield _Small(row, own, cause)


def _cause(own: SegmentSizeRow) -> Cause | None:
    """What keeps segments small, the first that holds."""
    could_be = own["mss_bytes"] * WORTHWHILE
    announced, fits = own["announced_mss_bytes"], own["path_mtu_bytes"] - HEADER_BYTES
    if could_be < min(own["first_mss_bytes"], fits):
        return "lost on the way"
    if announced is None:
        return None
    if could_be < min(announced, fits):
        return "rewritten"
    if could_be < announced:
        return "path MTU"
    return "ends unlike" if announced * WORTHWHILE < fits else None


def _said(direction: str, small: Sequence[_Small], of: int) -> str:
    source, sink = small[0].row["src"], small[0].row["dst"]
    sizes = [one.segments["mss_bytes"] for one in small]
    least, most = min(sizes), max(sizes)
    carried = f"{least} B" if least == most else f"{least} to {most} B"
    path_mtu = max(one.segments["path_mtu_bytes"] for one in small)
    announced = min((size for one in small if (size := one.segments["announced_mss_bytes"])), default=0)
    in_trials = f"in {len(small)} of {counted(of, 'trial')}"
    match small[0].cause:
        case "lost on the way":
            first = max(one.segments["first_mss_bytes"] for one in small)
            return (
                f"{direction}: segments became smaller {in_trials}, from {first} B to {carried}, and no "
                f"router said that they were too long (the path's MTU stayed {path_mtu} B): long packets get "
                "lost on the way. Let the ICMP messages pass that say so (fragmentation needed, packet too "
                "big), or find the device that takes only smaller packets."
            )
        case "rewritten":
            return (
                f"{direction}: segments carry {carried} {in_trials}, although {sink} takes {announced} B "
                f"and {source} may send packets of {path_mtu} B: something on the path lowers the MSS "
                f"that {sink} announces, as tunnels and firewalls do. Where the path has neither, look for "
                "what rewrites it."
            )
        case "path MTU":
            return (
                f"{direction}: segments carry {carried} {in_trials}, although {sink} takes {announced} B: "
                f"{source} or the path takes no packets above {path_mtu} B. Where larger ones are "
                "meant to pass, find the device that does not take them: fewer packets cost less CPU time, "
                "and grow the congestion window faster."
            )
        case "ends unlike":
            return (
                f"{direction}: {source} may send packets of {path_mtu} B, but {sink} takes segments of "
                f"{announced} B {in_trials}: {sink} has a smaller MTU, or has learned that the path does. "
                "Within one network all MTUs have to be the same; between networks, see that path MTU "
                "discovery works."
            )
