"""Loss, duplicates, delay, jitter and order of emulated links, as trials over them tell."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, summary
from conditions_support import (
    DELAY_WITHIN_MS,
    PERCENTILES,
    Condition,
    Interval,
    Measured,
    count_interval,
    delay_interval,
    measured,
    plan_of,
    reordering_intervals,
)

CHANCES = [(0.0001, 0.0), (0.001, 0.001), (0.01, 0.01), (0.05, 0.1), (0.3, 0.0), (0.0, 0.3)]
"""Loss and duplicates of a link."""
DELAYS_MS = (0.5, 5, 20, 87.5, 250)
JITTERS_MS = ((20, 10), (30, 30), (50, 20), (50, 50))
"""Delay and jitter, by which packets may overtake each other. All are wider than the gaps between datagrams;
else only those change places that a source sends at once after it was held up."""
ECHOES = ("icmp", "udp", "tcp-connect")
SEED = 20_26


def test_what_a_link_is_set_to_do_comes_back(tmp_path: Path) -> None:
    chances = [
        Condition(f"chance{at}", 5, loss=loss, duplicate=duplicate, rate_sum="40Mbit/s", duration="10s")
        for at, (loss, duplicate) in enumerate(CHANCES)
    ]
    delays = [Condition(f"delay{at}", delay, rate_sum="12Mbit/s") for at, delay in enumerate(DELAYS_MS)]
    # One datagram in 5 ms: what holds up the source now and then changes little.
    jitters = [
        Condition(f"jitter{at}", delay, jitter, reorder=True, rate_sum="2.352Mbit/s", duration="20s")
        for at, (delay, jitter) in enumerate(JITTERS_MS)
    ]
    plan = tmp_path / "plan.toml"
    plan.write_text(
        plan_of([*chances, *delays, *jitters], seed=SEED) + "".join(map(questions, delays)), encoding="utf-8"
    )
    flowsweep("run", plan, "--archive", tmp_path / "archive", timeout_s=1800)
    seen = measured(tmp_path / "archive")
    asked = [row for row in summary(tmp_path / "archive") if row["test"] == "rtt"]
    counts = [count for one in chances for count in counts_of(one, seen[one.name])]
    waits = [wait_of(one, seen[one.name]) for one in delays] + [round_trip_of(delays, row) for row in asked]
    spreads = [spread for one in jitters for spread in spreads_of(one, seen[one.name])]
    write_notes(counts, waits, spreads)
    for fact in (*counts, *waits, *spreads):
        assert fact["low"] <= fact["measured"] <= fact["high"], fact


def questions(one: Condition) -> str:
    """A sweep of round-trip times over a condition's link."""
    return f"""
    [[sweep]]
    name = "rtt-{one.name}"
    test = "rtt"
    paths = [{{ from = "left", to = "{one.name}" }}]
    echo = {list(ECHOES)}
    duration = "4s"
    """


def counts_of(one: Condition, seen: Measured) -> list[dict[str, Any]]:
    """How many datagrams were lost, and how many of those that came, came twice."""
    chances = (
        ("loss", seen.lost, seen.sent, one.loss),
        ("duplicate", seen.duplicates, seen.came, one.duplicate),
    )
    return [
        fact(what, probability, count, count_interval(of, probability), of=of)
        for what, count, of, probability in chances
    ]


def wait_of(one: Condition, seen: Measured) -> dict[str, Any]:
    """The median one-way delay."""
    (delays_ms,) = seen.delays_ms
    return fact("one way", one.delay_ms, delays_ms[50], near(one.delay_ms), least=delays_ms[0])


def round_trip_of(conditions: Sequence[Condition], row: Mapping[str, str]) -> dict[str, Any]:
    """The median round-trip time of a trial that asked over one of the links."""
    (one,) = (one for one in conditions if f"rtt-{one.name}" == row["sweep"])
    median, least = (float(row[f"rtt_probe_{name}_ms"]) for name in ("median", "min"))
    return fact(row["echo"], 2 * one.delay_ms, median, near(2 * one.delay_ms), least=least)


def spreads_of(one: Condition, seen: Measured) -> list[dict[str, Any]]:
    """How delays spread, and what became of the order."""
    (delays_ms,) = seen.delays_ms
    share, extent = reordering_intervals(one, seen)
    about = {"link": f"{one.delay_ms:g} ± {one.jitter_ms:g} ms", "of": seen.came}
    quantiles = [
        fact(
            f"{percentile} % of delays, ms",
            one.delay_ms + one.jitter_ms * (percentile / 50 - 1),
            delays_ms[percentile],
            delay_interval(one, seen.came, percentile),
            **about,
        )
        for percentile in PERCENTILES
    ]
    return [
        *quantiles,
        fact("share reordered", sum(share) / 2, seen.reordered / seen.came, share, **about),
        fact("mean extent", sum(extent) / 2, seen.extent_mean, extent, **about),
    ]


def near(delay_ms: float) -> Interval:
    """No earlier than set, and hardly later."""
    return delay_ms, delay_ms + DELAY_WITHIN_MS


def fact(what: str, wanted: float, found: float, interval: Interval, **more: Any) -> dict[str, Any]:
    """One line of the notes."""
    low, high = interval
    return {"what": what, "set": wanted, "measured": found, "low": low, "high": high, **more}


def write_notes(
    counts: Sequence[Mapping[str, Any]],
    waits: Sequence[Mapping[str, Any]],
    spreads: Sequence[Mapping[str, Any]],
) -> None:
    page = NOTES / "conditions.md"
    lines = [
        (
            one["what"],
            f"{one['set']:.2%}",
            one["of"],
            one["measured"],
            f"{one['low']:.0f} to {one['high']:.0f}",
        )
        for one in counts
    ]
    fill_table(page, "counts", table(("what", "set", "datagrams", "counted", "99 %"), lines))
    lines = [
        (one["what"], f"{one['set']:g}", f"{one['least']:.3f}", f"{one['measured']:.3f}",
         f"{one['measured'] - one['set']:+.3f}")
        for one in waits
    ]  # fmt: skip
    fill_table(page, "delays", table(("method", "set, ms", "least", "median", "error"), lines))
    lines = [
        (one["link"], one["what"], f"{one['set']:.3f}", f"{one['measured']:.3f}",
         f"{one['low']:.3f} to {one['high']:.3f}")
        for one in spreads
    ]  # fmt: skip
    fill_table(page, "jitter", table(("link", "what", "expected", "measured", "99 %"), lines))
    write_result(
        "conditions",
        "What emulated links are set to do to packets, and what trials over them say",
        {"counts": counts, "delays": waits, "jitter": spreads},
    )
