"""What `flowsweep path` says at its end: a line for each hop, then the path as a whole."""

from collections.abc import Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.path.rows import HopRow, hop_rows_of_probes
from flowsweep.analysis.tests.path.words import hop_address, hop_capacity
from flowsweep.archive.parquet import keyed_tables
from flowsweep.cli.limited_by import LIMITED_BY, not_known
from flowsweep.cli.one_trial import Measured
from flowsweep.cli.summary_lines import print_lines
from flowsweep.cli.terminal import say
from flowsweep.wording import format_milliseconds, format_rate, format_size, with_interval

_UNDECIDED = "undecided"


def print_summary(measured: Measured) -> None:
    """Lines of a name and a value; what could not be decided is called so."""
    row = measured.row
    probes = keyed_tables(measured.outcome).get("hops")
    hops = [] if probes is None else hop_rows_of_probes(probes)
    _tell_hops(hops)
    whole = row["status"] == "ok"
    print_lines(
        [
            ("hops", _hops(row) if whole else None),
            ("narrow hop", _narrow(row) if whole else None),
            ("capacity", _capacity(row, hops) if whole else None),
            ("dispersion rate", _dispersion_rate(row) if whole else None),
            ("available", _available(row) if whole else None),
            ("minimum RTT", _rtt(row) if whole else None),
            ("window", _window(row) if whole else None),
            ("rates", "of IP packets, headers counted; intervals are of 95 %" if whole else None),
            ("remark", row["remarks"]),
            (row["status"], row["error"]),
            (LIMITED_BY, _limited_by(row)),
        ]
    )


def _tell_hops(hops: Sequence[HopRow]) -> None:
    if not hops:
        return
    say()
    width = max(len(hop_address(hop)) for hop in hops)
    for hop in hops:
        rtt = "" if hop["rtt_min_ms"] is None else format_milliseconds(hop["rtt_min_ms"])
        answers = f"{hop['answers']} of {hop['probes']}"
        say(f"hop {hop['hop']:<3} {hop_address(hop):<{width}}  {rtt:>8}  {answers:>12}  {hop_capacity(hop)}")


def _hops(row: TrialRow) -> str:
    if row["path_hops"] is None:
        return f"{_UNDECIDED}: the other end answered no probe of a hop"
    return str(row["path_hops"])


def _narrow(row: TrialRow) -> str:
    if row["path_hops"] == 1:
        return "1, the only one"
    if row["path_narrow_hop"] is None:
        return f"{_UNDECIDED}: no hop is known to be narrower than every other one"
    of_all = "" if row["path_hops"] is None else f" of {row['path_hops']}"
    return f"{row['path_narrow_hop']}{of_all}"


def _capacity(row: TrialRow, hops: Sequence[HopRow]) -> str:
    capacity_bps = row["path_capacity_bps"]
    if capacity_bps is None:
        return f"{_UNDECIDED}: neither packet pairs nor hops tell it"
    narrow = next((hop["capacity_bps"] for hop in hops if hop["hop"] == row["path_narrow_hop"]), None)
    # Without pairs that tell it, it is what the narrow hop carries or what trains show, to the digit.
    by = {
        narrow: "the probes of the narrow hop",
        row["path_dispersion_rate_bps"]: "trains of packets that nothing held up",
    }
    return f"{_with_interval(capacity_bps, row)}, by {by.get(capacity_bps, 'packet pairs')}"


def _dispersion_rate(row: TrialRow) -> str | None:
    rate_bps = row["path_dispersion_rate_bps"]
    if rate_bps is None:
        return None
    return f"{format_rate(rate_bps)} of trains: between what is available and the capacity"


def _with_interval(capacity_bps: float, row: TrialRow) -> str:
    low, high = row["path_capacity_low_bps"], row["path_capacity_high_bps"]
    return with_interval(format_rate, capacity_bps, low, high)


def _available(row: TrialRow) -> str:
    low, high = row["path_available_low_bps"], row["path_available_high_bps"]
    if low is None:
        return f"{_UNDECIDED}: no rate is known at which delays grow or do not"
    if high is None:
        return (
            f"at least {format_rate(low)}"
            if low
            else f"{_UNDECIDED}: not even of the lowest rate it is known"
        )
    if low == high:
        return f"all of it, {format_rate(low)}: delays did not grow up to that rate"
    return f"{format_rate(low)} to {format_rate(high)} while it was measured"


def _rtt(row: TrialRow) -> str:
    if row["path_rtt_min_ms"] is None:
        return f"{_UNDECIDED}: the other end answered no probe of a hop"
    return format_milliseconds(row["path_rtt_min_ms"])


def _window(row: TrialRow) -> str:
    if row["path_window_bytes"] is None:
        return f"{_UNDECIDED}: it takes both capacity and minimum RTT"
    return f"{format_size(row['path_window_bytes'])} in flight fill the path: capacity × minimum RTT"


def _limited_by(row: TrialRow) -> str:
    if row["path_capacity_bps"] is None:
        return not_known(row, "neither packet pairs nor hops tell what the path carries")
    carried = _with_interval(row["path_capacity_bps"], row)
    if row["path_hops"] == 1:
        return f"hop 1, the path's only link: {carried}"
    if row["path_narrow_hop"] is None:
        reason = f"the path carries {carried}, but which of its links is the narrowest cannot be told"
        return not_known(row, reason)
    return f"hop {row['path_narrow_hop']}, the narrowest link: {carried}"
