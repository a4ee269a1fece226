"""Whether the kernel's own windows can fill the path, where the plan asks for none."""

from collections.abc import Iterator, Sequence
from functools import partial

from flowsweep.analysis.background.words import background_names
from flowsweep.analysis.findings.advice import NOTHING_GAINED, left_payload_bps, path_payload_bps
from flowsweep.analysis.findings.host_settings import SETTINGS, HostFacts, Side, recorded, tuned_share
from flowsweep.analysis.findings.hypothesis import NO_ESTIMATE, Estimate, Hypothesis
from flowsweep.analysis.statistics.observations import Observations, ObservedRow, Scope, trial_ids
from flowsweep.analysis.summarising.trial_row import goodput_of
from flowsweep.analysis.theory import bandwidth_delay_bytes, window_bps
from flowsweep.wording import counted, format_milliseconds, format_rate, format_size

_METHOD = (
    "bandwidth × delay for each flow (RFC 6349, section 3.3.1) against the last number of tcp_wmem, or half "
    "of that of tcp_rmem, since buffers count memory"
)
_described = partial(Hypothesis, "autotuning", method=_METHOD, figure="limits")


def autotuning_hypotheses(observed: Observations, hosts: HostFacts | None) -> list[Hypothesis]:
    """Compare the ceilings of autotuning with what the path holds, direction by direction and end by end.

    Args:
        observed: Trials of one sweep and mode.
        hosts: What is recorded of the hosts.

    Returns:
        One description for each end whose ceiling is too low for some number of flows that was tried without
        a window; it gives the fewest flows. The effect is ceiling / need (unit "1", below 1), without what
        traffic beside the trial carried; absent where that is not known. None where the
        path's rate, its round trip or the host's setting is not known, or so many flows filled the path, or
        reached more than the ceiling lets expect.
    """
    return [
        hypothesis
        for direction, rows in observed.by_direction()
        for hypothesis in _of_direction(observed.scope(direction), rows, hosts)
    ]


def _certainty(side: Side, need_bytes: float, buffer_bytes: int) -> str:
    """A send buffer limits the writer: several times of it were seen in flight."""
    return "cannot" if side == "receive" and need_bytes > buffer_bytes else "may not"


def _in_flight(side: Side, hosts: HostFacts | None, host: str) -> tuple[float, str]:
    """Of a buffer, how much can be in flight as a rule: docs/explanation/windows.md."""
    if side == "send":
        return 1.0, "all of which may be in flight, and at times more: about"
    share = tuned_share(side, hosts, host)
    part = "half" if share == 0.5 else f"{100 * share:.3g} %"
    return share, f"of which about {part} becomes a receive window: about"


def _of_direction(scope: Scope, rows: Sequence[ObservedRow], hosts: HostFacts | None) -> Iterator[Hypothesis]:
    path_bps = path_payload_bps(rows)
    least_ms = min((rtt_ms for row in rows if (rtt_ms := row.get("rtt_min_ms"))), default=None)
    if path_bps is None or least_ms is None:
        return
    for side, (key, _, setting, _) in SETTINGS.items():
        tuned = [row for row in rows if row.get(f"{key}_bytes") is None and row.get("rtt_min_ms")]
        if not tuned:
            continue
        flows = min(row["flows"] for row in tuned)
        host = tuned[0]["src" if side == "send" else "dst"]
        limits = recorded(hosts, host, setting)
        own = [row for row in tuned if row["flows"] == flows]
        best = max(own, key=goodput_of)
        left_bps = left_payload_bps(best, path_bps)
        rate_bps = path_bps if left_bps is None else left_bps
        need = bandwidth_delay_bytes(rate_bps, least_ms / 1_000) / flows
        share, becomes = _in_flight(side, hosts, host)
        if limits is None or limits[-1] * share >= need:
            continue
        ceiling = limits[-1] * share
        # How much of a buffer is window depends on how a device stores packets: what was reached counts.
        if goodput_of(best) >= min(NOTHING_GAINED * rate_bps, window_bps(ceiling * flows, least_ms / 1_000)):
            continue
        claim = (
            f"{scope.direction}: autotuning {_certainty(side, need, limits[-1])} fill {_path(best)} with "
            f"{counted(flows, 'flow')}: each needs "
            f"{format_size(need)} in flight ({format_rate(rate_bps)} × {format_milliseconds(least_ms)}), and "
            f"{setting} of {host} ends at {limits[-1]} B, {becomes} "
            f"{format_rate(window_bps(ceiling * flows, least_ms / 1_000))}."
        )
        effect = NO_ESTIMATE if left_bps is None else Estimate(ceiling / need, "1")
        yield _described(scope, claim, trial_ids(own), effect)


def _path(row: ObservedRow) -> str:
    """The path, with what others have of it."""
    others = background_names(row)
    if not others:
        return "the path"
    return f"the path (of which {others} may have a part)"
