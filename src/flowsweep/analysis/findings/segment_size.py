"""Are segments as large as both ends take, and what keeps them smaller?"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

from flowsweep.analysis.findings.host_settings import HostFacts, recorded
from flowsweep.analysis.findings.hypothesis import Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, Scope, trial_ids
from flowsweep.analysis.tests.tcp.segment_sizes import SegmentSizeRow
from flowsweep.packets import header_bytes
from flowsweep.wording import counted, direction_of

HEADER_BYTES = header_bytes(6)
"""Of IPv6 and TCP, with timestamps; of IPv4 they are 20 less."""
PROBING = "net.ipv4.tcp_mtu_probing"
_PROBING_NEVER, _PROBING_AFTER_TIMEOUTS = (0,), (1,)
_PROBED_MSS_BYTES = 1024
"""What a source falls back to after timeouts, in the kernel's own setting (`tcp_base_mss`)."""
WORTHWHILE = 1.1
"""Times as large as they are segments could be: less saves half a percent of headers, and hardly any CPU."""
_METHOD = (
    "TCP_INFO: segment size of the source at the start and at the end of each trial, its path MTU, and the "
    "MSS that the sink announces"
)
_described = partial(Hypothesis, "segment_size", method=_METHOD)

Cause = Literal["lost on the way", "path MTU", "ends unlike", "rewritten"]


class _Group(NamedTuple):
    """Trials of which the same is said."""

    direction: str
    cause: Cause
    path_mtu_bytes: int
    announced_mss_bytes: int | None


class _Small(NamedTuple):
    """A trial whose segments are smaller than they could be."""

    row: ObservedRow
    segments: SegmentSizeRow


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
        kernel send smaller ones (`tcp_bound_to_half_wnd`), where the source may start with small ones by its
        own setting (`tcp_mtu_probing` 2, or not recorded), and where they could not be 1.1 times as large.

    Method:
        What the source sends is bounded by the MSS that the sink announces and by the path's MTU, less
        headers (RFC 9293, section 3.7.1; RFC 1191). Segments that became smaller in most trials while the
        path's MTU stayed are those of a source that lost long packets, or all, and heard nothing of it (RFC
        4821; `tcp_mtu_probing`).
    """
    found: dict[_Group, list[_Small]] = {}
    scopes: dict[_Group, Scope] = {}
    of: Counter[str] = Counter()
    for observed in campaign:
        for direction, rows in observed.by_direction(lambda row: row["trial_id"] in segments):
            of[direction] += len(rows)
            for row in rows:
                own = segments[row["trial_id"]]
                cause = _cause(row, own, hosts)
                if cause is not None:
                    group = _Group(direction, cause, own["path_mtu_bytes"], own["announced_mss_bytes"])
                    scopes.setdefault(group, observed.scope(direction))
                    found.setdefault(group, []).append(_Small(row, own))
    held_down = {group.direction for group in found if group.cause == "path MTU"}
    return [
        _described(
            scopes[group],
            _said(group, small, of[group.direction]),
            trial_ids(one.row for one in small),
            Estimate(min(one.segments["mss_bytes"] for one in small), "bytes"),
        )
        for group, small in found.items()
        if not (group.cause == "ends unlike" and _way_back(small[0].row) in held_down)
        and not (group.cause == "lost on the way" and len(small) * 2 <= of[group.direction])
    ]


def _way_back(row: ObservedRow) -> str:
    """The other direction: a host that has learned what the path there takes announces no more here."""
    return direction_of({**row, "src": row["dst"], "dst": row["src"]})


def _cause(row: ObservedRow, own: SegmentSizeRow, hosts: HostFacts | None) -> Cause | None:
    """What keeps segments small, the first that holds; None of what is asked for, or is not known."""
    announced, window_bytes = own["announced_mss_bytes"], own["window_bytes"]
    if row.get("mss_bytes") is not None or window_bytes is None or window_bytes <= 2 * own["path_mtu_bytes"]:
        return None
    could_be, fits = own["mss_bytes"] * WORTHWHILE, own["path_mtu_bytes"] - HEADER_BYTES
    if could_be < min(own["first_mss_bytes"], fits):
        return "lost on the way"
    if announced is None:
        return None
    if could_be < min(announced, fits):
        return None if _may_probe(row, own, hosts) else "rewritten"
    if could_be < announced:
        return "path MTU"
    return "ends unlike" if announced * WORTHWHILE < fits else None


def _may_probe(row: ObservedRow, own: SegmentSizeRow, hosts: HostFacts | None) -> bool:
    """Whether the source may have chosen small segments itself: at first, or after timeouts."""
    setting = recorded(hosts, row["src"], PROBING)
    after_timeouts = setting == _PROBING_AFTER_TIMEOUTS and own["mss_bytes"] <= _PROBED_MSS_BYTES
    return setting not in (_PROBING_NEVER, _PROBING_AFTER_TIMEOUTS) or after_timeouts


def _said(group: _Group, small: Sequence[_Small], of: int) -> str:
    direction, cause, path_mtu, announced = group
    source, sink = small[0].row["src"], small[0].row["dst"]
    sizes = [one.segments["mss_bytes"] for one in small]
    least, most = min(sizes), max(sizes)
    carried = f"{least} B" if least == most else f"{least} to {most} B"
    in_trials = f"in {len(small)} of {counted(of, 'trial')}"
    match cause:
        case "lost on the way":
            first = max(one.segments["first_mss_bytes"] for one in small)
            return (
                f"{direction}: segments became smaller {in_trials}, from {first} B to {carried}, and no "
                f"router said that they were too long (the path's MTU stayed {path_mtu} B): long packets get "
                "lost on the way, or the path was interrupted for seconds. Let the ICMP messages pass that "
                "say so (fragmentation needed, packet too big), or find the device that takes only smaller "
                "packets."
            )
        case "rewritten":
            return (
                f"{direction}: segments carry {carried} {in_trials}, although {sink} takes {announced} B "
                f"and {source} may send packets of {path_mtu} B: something between the two lowers the "
                f"MSS that {sink} announces, as tunnels and firewalls do (those of the hosts, too), or a "
                "proxy ends the connection. Where there is none of them, look for what rewrites it."
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
                f"{announced} B {in_trials}: its MTU or its route is set to less, or it has "
                "learned that the path takes no more. Within one layer-2 segment all MTUs have to be the "
                "same; between segments, see that path MTU discovery works."
            )
