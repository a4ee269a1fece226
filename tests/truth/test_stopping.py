"""Trials that end when they know, against whole ones: recorded ones, asked afterwards, and live ones.

Twelve emulated paths, each with hosts of its own, run side by side.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep
from flowsweep.archive import Archive, read_archive
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.until.model import Until
from replayed_trials import goodputs_until, replay
from summary_support import archive_rows

WHAT = "trials of 30 s on twelve emulated paths, ended once their mean is known to 2 %"
UNTIL = Until(share=0.02, at_least_ns=3 * SECOND_NS)
AT_MOST_S = 30
FLOWS = (1, 4, 16)
RECORDED_REPEATS, LIVE_REPEATS = 14, 2
"""Of each path and number of flows: 504 recorded and 72 live trials."""
MEDIAN_MOST, P95_MOST, SAVED_LEAST = 0.015, 0.05, 2.5


@dataclass(frozen=True)
class Setting:
    """An emulated path."""

    rate: str
    delay: str
    """One way."""
    queue: str
    congestion: str = "cubic"
    more: str = ""


SETTINGS = (
    Setting("20Mbit/s", "2ms", "50KB"),
    Setting("20Mbit/s", "10ms", "25KB"),
    Setting("20Mbit/s", "10ms", "200KB", "bbr"),
    Setting("10Mbit/s", "25ms", "60KB", "reno"),
    Setting("20Mbit/s", "25ms", "500KB"),
    Setting("20Mbit/s", "50ms", "250KB"),
    Setting("10Mbit/s", "125ms", "300KB"),
    Setting("10Mbit/s", "125ms", "1MB", "bbr"),
    Setting("20Mbit/s", "10ms", "50KB", more='loss = "0.1%"'),
    Setting("20Mbit/s", "20ms", "100KB", more='jitter = "3ms"'),
    Setting(
        "20Mbit/s",
        "10ms",
        "50KB",
        more='forward = { cross = { rate = "5Mbit/s", on = "500ms", off = "1s" } }',
    ),
    Setting(
        "20Mbit/s", "10ms", "50KB", more='forward = { cross = { rate = "8Mbit/s", on = "3s", off = "5s" } }'
    ),
)

Row = dict[str, Any]


def test_what_is_known_early_is_what_whole_trials_say(tmp_path: Path) -> None:
    recorded = run(tmp_path / "recorded", f'"{AT_MOST_S}s"', RECORDED_REPEATS)
    until = f'{{ until = "{UNTIL.share:.0%}", at_least = "3s", at_most = "{AT_MOST_S}s" }}'
    live = run(tmp_path / "live", until, LIVE_REPEATS)
    replayed = of_replay(recorded)
    lived = of_live(archive_rows(live), archive_rows(recorded))
    results = {"replayed": judged(replayed), "live": judged(lived)}
    write_result("until", WHAT, results | {"paths": by_path(replayed, lived)})
    columns = ("", "trials", "known", "median error", "95th percentile", "seconds saved")
    rows = [(name, *_cells(result)) for name, result in results.items()]
    fill_table(NOTES / "until.md", "until", table(columns, rows))
    assert results["replayed"]["trials"] >= 500
    assert results["live"]["trials"] >= 60
    for result in results.values():
        assert result["median_error"] <= MEDIAN_MOST
        assert result["p95_error"] <= P95_MOST
        assert result["times_fewer_seconds"] >= SAVED_LEAST


@dataclass(frozen=True)
class Ended:
    """A trial that ended when it knew, or not."""

    path: str
    flows: int
    known: bool
    lasted_s: float
    error: float
    """Of its headline goodput against that of whole trials, as a share."""


def run(folder: Path, duration: str, repeats: int, flows: Iterable[int] = FLOWS) -> Archive:
    """Run all paths side by side."""
    folder.mkdir(parents=True)
    links = "".join(
        f'[lab.links.p{place}]\nbetween = ["p{place}-a", "p{place}-b"]\nrate = "{one.rate}"\n'
        f'delay = "{one.delay}"\nqueue = "{one.queue}"\n{one.more}\n'
        for place, one in enumerate(SETTINGS)
    )
    sweeps = "".join(
        f'[[sweep]]\nname = "p{place}"\npaths = [{{ from = "p{place}-a", to = "p{place}-b" }}]\n'
        f'congestion = "{one.congestion}"\nflows = {sorted(flows)}\nduration = {duration}\n'
        for place, one in enumerate(SETTINGS)
    )
    campaign = f'[campaign]\nname = "until"\nseed = 19\nconcurrent = 99\nrepeats = {repeats}\n'
    (folder / "plan.toml").write_text(campaign + links + sweeps, encoding="utf-8")
    # Of hundreds of trials one may fail, as where a flow backs off for 10 s: it is counted in none.
    flowsweep("run", folder / "plan.toml", "--archive", folder / "archive", expect=None, timeout_s=7200)
    return read_archive(folder / "archive")


def of_replay(archive: Archive) -> list[Ended]:
    """Each whole trial against itself, cut."""
    rows = {row["trial_id"]: row for row in archive_rows(archive) if row["status"] == "ok"}
    ends = replay(archive, UNTIL)
    goodputs = goodputs_until(archive, ends)
    return [
        Ended(
            row["sweep"],
            row["flows"],
            ends[trial].held_by == "known",
            ends[trial].ended_ns / SECOND_NS,
            goodputs[trial] / row["goodput_bps"] - 1,
        )
        for trial, row in rows.items()
    ]


def of_live(rows: Iterable[Row], whole: Iterable[Row]) -> list[Ended]:
    """Each trial that ended by itself against the median of whole ones of its point."""
    goodputs: Mapping[tuple[str, int], list[float]] = defaultdict(list)
    for row in whole:
        if row["status"] == "ok":
            goodputs[row["sweep"], row["flows"]].append(row["goodput_bps"])
    return [
        Ended(
            row["sweep"],
            row["flows"],
            row["ended_by"] == "known",
            row["lasted_s"],
            float(row["goodput_bps"] / np.median(goodputs[row["sweep"], row["flows"]])) - 1,
        )
        for row in rows
        if row["status"] == "ok"
    ]


def judged(ended: list[Ended]) -> dict[str, Any]:
    """Errors of all of them, those included that went on to the end, and how much less time they took."""
    errors = np.abs([one.error for one in ended])
    return {
        "trials": len(ended),
        "known": sum(one.known for one in ended),
        "median_error": float(np.median(errors)),
        "p95_error": float(np.quantile(errors, 0.95)),
        "times_fewer_seconds": len(ended) * AT_MOST_S / sum(one.lasted_s for one in ended),
    }


def by_path(replayed: list[Ended], live: list[Ended]) -> list[dict[str, Any]]:
    """The same of each path."""
    return [
        vars(setting)
        | {
            kind: judged(own)
            for kind, ended in (("replayed", replayed), ("live", live))
            if (own := [one for one in ended if one.path == f"p{place}"])
        }
        for place, setting in enumerate(SETTINGS)
    ]


def _cells(result: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        result["trials"],
        result["known"],
        f"{result['median_error']:.2%}",
        f"{result['p95_error']:.1%}",
        f"{result['times_fewer_seconds']:.1f} times",
    )
