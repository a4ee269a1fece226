"""The data of each trial's own page, packed into the report."""

import base64
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from flowsweep.analysis.background.words import background_words
from flowsweep.analysis.findings.advice import path_payload_bps, window_advice
from flowsweep.analysis.findings.host_settings import HostFacts
from flowsweep.analysis.findings.late_trials import UNTRUE_PATHS
from flowsweep.analysis.hosts import HostCounterRow
from flowsweep.analysis.summarising.trial_row import TrialRow, known, quantity_of
from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.analysis.verdict_words import limit_name, limit_words
from flowsweep.figures.trials import point_of
from flowsweep.grouping import grouped
from flowsweep.report.answers import result_words
from flowsweep.report.trial_details import CoreRow, FlowEndRow, TrialDetails
from flowsweep.tests import facts_of
from flowsweep.wording import (
    asked_duration,
    asked_windows,
    counted,
    direction_of,
    ending_words,
    format_share,
    format_size,
)

Page = dict[str, object]
_NEAREST = 20
"""Other repeats of its point that a trial's page names: all of months would be too many for each."""
_RETIRED = (
    "Its samples were retired on {:%Y-%m-%d}, as the plan says: nothing within it can be shown any more, and "
    "what is said of it is the summary that was made before."
)


def trial_pages(
    trials: Sequence[TrialRow],
    details: TrialDetails,
    series: Mapping[str, object],
    *,
    hosts: HostFacts | None = None,
    retired_at: Mapping[str, datetime] | None = None,
) -> Iterator[tuple[str, str]]:
    """Pack what the page's script needs for each trial, in the order in which the trials ran.

    Args:
        trials: Rows of the report's data.
        details: Of the same trials.
        series: What is drawn over the time of a trial, by trial_id; ready for JSON.
        hosts: What is recorded of the hosts, for what is advised.
        retired_at: When samples were retired, by trial_id.

    Yields:
        trial_id, and the page's data as JSON (RFC 8259), compressed (gzip, RFC 1952), in Base64 (RFC 4648).
    """
    ordered = sorted(trials, key=lambda row: str(row["started_at"] or ""))
    nearest = _nearest(grouped(ordered, point_of).values())
    paths = grouped(ordered, lambda row: (row["src"], row["dst"]))
    carried = {path: path_payload_bps(rows) for path, rows in paths.items()}
    for row in ordered:
        trial_id = row["trial_id"]
        page = _page(row, nearest[trial_id], details)
        page["explained"] = _explained(row, carried[row["src"], row["dst"]], hosts)
        page["series"] = series.get(trial_id)
        if (at := (retired_at or {}).get(trial_id)) is not None:
            page["lede"] = f"{page['lede']} {_RETIRED.format(at)}"
        yield trial_id, _packed(page)


def _nearest(points: Iterable[Sequence[TrialRow]]) -> dict[str, tuple[list[TrialRow], int]]:
    """By trial_id, the repeats of its point that ran next to it, in order, and how many more there are."""
    found = {}
    for repeats in points:
        for place, row in enumerate(repeats):
            first = max(min(place - _NEAREST // 2, len(repeats) - 1 - _NEAREST), 0)
            near = [one for one in repeats[first : first + 1 + _NEAREST] if one is not row]
            found[row["trial_id"]] = near, len(repeats) - 1 - len(near)
    return found


def _packed(page: Page) -> str:
    text = json.dumps(page, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # No time of packing inside: the same archive gives the same report.
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def _page(row: TrialRow, nearest: tuple[Sequence[TrialRow], int], details: TrialDetails) -> Page:
    trial_id = row["trial_id"]
    repeats, further = nearest
    tables = (
        _flows(details.flows.get(trial_id, ())),
        _cores(details.cores.get(trial_id, ())),
        _counters(details.counters.get(trial_id, ())),
    )
    return {
        "title": " · ".join(_title(row)),
        "lede": _lede(row),
        "verdict": limit_name(row),
        "limits": [
            [key, word, round(share, 4)]
            for key, word in LIMITS.items()
            if (share := quantity_of(row, f"limit_{key}_share"))
        ],
        "repeats": [[one["trial_id"], f"repeat {one['repeat']}", result_words(one)] for one in repeats],
        "further_repeats": further,
        "tables": [table for table in tables if table["rows"]],
    }


def _title(row: TrialRow) -> list[str]:
    facts = facts_of(row["test"])
    if facts.answer:
        return [direction_of(row), facts.answer]
    flows = counted(row["flows"], "flow") + (" of datagrams" if facts.datagrams else "")
    windows = asked_windows(row)
    return [
        direction_of(row),
        flows,
        *([f"window {windows}{' per flow' * (row['flows'] > 1)}"] if windows else []),
    ]


def _lede(row: TrialRow) -> str:
    """What became of the trial, in a sentence."""
    when = f"Repeat {row['repeat']} of sweep {row['sweep']}"
    if row.get("duration_s"):
        when += f", {asked_duration(row)}" + ("" if row.get("until_share") else " long")
    return f"{when}: {result_words(row)}."


def _explained(row: TrialRow, path_bps: float | None, hosts: HostFacts | None) -> str | None:
    """What the verdict means, what to set where a window limits, and what else ran."""
    advice = window_advice(row, path_bps=path_bps, hosts=hosts)
    others = background_words([row])
    late = UNTRUE_PATHS.get(row.get("path_emulation") or "")
    said = [
        f"The emulated path was not the plan's: {late}. No finding uses this trial." if late else "",
        limit_words(row)[1] if row.get("verdict") else "",
        advice.sentence.replace("`", "") if advice else "",
        f"It ran {others}." if others else "",
        ending_words(row),
    ]
    return " ".join(sentence for sentence in said if sentence) or None


def _flows(rows: Sequence[FlowEndRow]) -> Page:
    """One line a flow, both ends in it."""
    flows: dict[int, dict[str, FlowEndRow]] = {}
    for row in rows:
        flows.setdefault(row["flow"], {})[row["role"]] = row
    return {
        "title": "Flows",
        "head": ["Flow", "Source", "Sink", "Bytes sent", "Bytes read", "CPU send", "CPU recv", "Ended"],
        "text": [1, 2, 7],
        "rows": [_flow(flow, ends.get("source", {}), ends.get("sink", {})) for flow, ends in flows.items()],
    }


def _flow(flow: int, source: FlowEndRow, sink: FlowEndRow) -> list[str]:
    return [
        str(flow),
        source.get("host") or sink.get("peer") or "",
        sink.get("host") or source.get("peer") or "",
        _size(source),
        _size(sink),
        _busy(source),
        _busy(sink),
        "; ".join(_endings(source, sink)),
    ]


def _size(end: FlowEndRow) -> str:
    return format_size(float(f"{end['bytes']:.4g}")) if end else ""


def _busy(end: FlowEndRow) -> str:
    """How busy the flow's thread was at one end."""
    elapsed_us = end.get("cpu_elapsed_us")
    if not elapsed_us:
        return ""
    return format_share((known(end["cpu_user_us"]) + known(end["cpu_system_us"])) / elapsed_us)


def _endings(source: FlowEndRow, sink: FlowEndRow) -> list[str]:
    said = [
        f"{how}: {end['error']}" if end.get("error") else how
        for end in (source, sink)
        if (how := end.get("end"))
    ]
    return list(dict.fromkeys(said))


_CORE_PARTS = ("busy", "user", "system", "softirq", "irq", "steal")


def _cores(rows: Sequence[CoreRow]) -> Page:
    return {
        "title": "Cores",
        "note": "Of the whole host, as a share of the time; cores that did next to nothing are left out.",
        "head": ["Host", "Role", "Core", *(part.capitalize() for part in _CORE_PARTS)],
        "text": [0, 1],
        "rows": [
            [
                row["host"],
                _role(row),
                str(row["core"]),
                *(_share(quantity_of(row, f"{part}_share")) for part in _CORE_PARTS),
            ]
            for row in rows
        ],
    }


def _role(row: CoreRow | HostCounterRow) -> str:
    """What the host did: "source", or "background source" where it only carries such traffic."""
    return str(row["role"]).replace("_", " ")


def _share(share: float | None) -> str:
    return "" if share is None else f"{share * 100:.1f} %"


def _counters(rows: Sequence[HostCounterRow]) -> Page:
    return {
        "title": "Counters that rose",
        "note": "Of the host's kernel and devices, while flows ran.",
        "head": ["Host", "Role", "Counter", "Rose by"],
        "text": [0, 1, 2],
        "rows": [
            [row["host"], _role(row), row["name"], f"{row['value']:,}".replace(",", " ")] for row in rows
        ],
    }
