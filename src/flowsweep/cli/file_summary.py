"""What `flowsweep file` says at its end."""

from collections.abc import Sequence

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.file.words import moved_part
from flowsweep.analysis.verdicts import CORES_BUSY, MOST, NOT_CLEAR, STAGES
from flowsweep.cli.limited_by import LIMITED_BY, limited_by
from flowsweep.cli.summary_lines import goodput, latency, pair, print_lines
from flowsweep.wording import format_number, format_rate, format_share

_ALONE = " alone"
_BOUNDS = {
    "read": f"source storage{_ALONE}",
    "network": f"network{_ALONE}",
    "write": f"sink storage{_ALONE}",
}


def print_summary(row: TrialRow, parts: Sequence[TrialRow]) -> None:
    """Lines of a name and a value; what is not known is left out.

    `row`: of the summary, of the whole way; `parts`: of the parts of it. Where the whole way was not asked
    for, `row` is of a part as well: each is a measurement of its own then.
    """
    if row["mode"] in _BOUNDS:
        for part in (row, *parts):
            print_lines([(_BOUNDS[part["mode"] or ""], _rate(part)), *_details(part, ())])
        return
    print_lines([*goodput(row), *latency(row), *_details(row, parts)])


def _details(row: TrialRow, parts: Sequence[TrialRow]) -> list[tuple[str, object]]:
    return [
        ("moved", moved_part(row)),
        *((_BOUNDS[part["mode"] or ""], _alone(part, row)) for part in parts),
        ("waited for", _waits(row)),
        ("device I/O", _device_bytes(row)),
        ("file system", _file_systems(row)),
        ("CPU, both threads", pair(row["cpu_send"], row["cpu_recv"], format_share)),
        (row["status"], row["error"]),
        (LIMITED_BY, _limited_by(row, parts)),
    ]


def _limited_by(row: TrialRow, parts: Sequence[TrialRow]) -> str:
    """Name the stage that the others waited for; none where each alone carries far more than the whole."""
    bounds = {_BOUNDS[part["mode"] or ""]: part["goodput_bps"] for part in parts}
    alone = {name: goodput_bps for name, goodput_bps in bounds.items() if goodput_bps}
    whole_bps = row["goodput_bps"]
    if row["verdict"] in (*STAGES, NOT_CLEAR) and whole_bps and len(alone) == len(_BOUNDS):
        slowest = min(alone, key=lambda name: alone[name])
        if whole_bps < MOST * alone[slowest]:
            crowded = max(row["cores_busy_send"] or 0.0, row["cores_busy_recv"] or 0.0) >= CORES_BUSY
            apart = "they wait for each other, or share a disk or a CPU"
            why = "all cores of a host were in use" if crowded else apart
            return (
                f"no single stage: {why}; the slowest part alone, the {slowest.removesuffix(_ALONE)}, is "
                f"{format_number(alone[slowest] / whole_bps)} times as fast as all together, as far as one "
                f"trial of each tells (by who waited for whom: {row['verdict']})"
            )
    unclear, unknown = "no stage was waited for long enough", "there were too few samples"
    return limited_by(row, unclear=unclear, unknown=unknown)


def _alone(part: TrialRow, whole: TrialRow) -> str:
    if not part["error"]:
        return _rate(part)
    if (part["error"], part["goodput_bps"]) == (whole["error"], None):
        return "not known: it failed as the whole way did"
    failed = "" if part["goodput_bps"] is None else f"; {part['status']}"
    return f"{_rate(part)}{failed}: {part['error']}"


def _rate(part: TrialRow) -> str:
    return "not known" if part["goodput_bps"] is None else format_rate(part["goodput_bps"])


def _device_bytes(row: TrialRow) -> str | None:
    ends = (
        (row["source_device_bytes_per_byte"], "read at source"),
        (row["sink_device_bytes_per_byte"], "written at sink"),
    )
    known = [f"{format_number(ratio)} bytes {what}" for ratio, what in ends if ratio is not None]
    return f"{', '.join(known)}, per byte of file" if known else None


def _waits(row: TrialRow) -> str | None:
    shares = {
        "the source's files": row["source_storage_share"],
        "the network": row["network_share"],
        "the sink's files": row["sink_storage_share"],
    }
    known = sorted(((share, name) for name, share in shares.items() if share), reverse=True)
    return ", ".join(f"{name} {format_share(share)} of the time" for share, name in known) or None


def _file_systems(row: TrialRow) -> str | None:
    ends = ((row["source_file_system"], "source"), (row["sink_file_system"], "sink"))
    return ", ".join(f"{name} {end}" for name, end in ends if name) or None
