"""Answers of `tune` for its page: two hosts, both directions, eight and two flows compared with today."""

from collections.abc import Sequence
from dataclasses import replace

from flowsweep.tuning.answer import Answer, answer
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import ENDS, PATHS, tried

EIGHT, TWO = Setting(8), Setting(2)
HOSTILE = '<script>alert("owned")</script>'


def finals(**ratios: Sequence[float]) -> list[Tried]:
    """Trials of the blocks in which settings are compared."""
    made = []
    for way in Way:
        for block in range(3):
            made.append(tried(way, TODAY, 1e8, PATHS[1], block=block))
            for setting, values in ((EIGHT, ratios["eight"]), (TWO, ratios["two"])):
                made.append(tried(way, setting, 1e8 * values[block], PATHS[1], block=block))
    return [replace(one, row={**one.row, "congestion": HOSTILE}) for one in made]  # type: ignore[arg-type]


def found(**ratios: Sequence[float]) -> Answer:
    """What tune says where settings had these multiples of today's goodput, block by block."""
    hosts = {
        name: {"congestion_default": HOSTILE, "sysctls": {"net.ipv4.tcp_rmem": "1 2 30000"}} for name in "ab"
    }
    return answer(
        finals(**ratios),
        rtt_ms=20.0,
        hosts=hosts,
        ends=ENDS,
        hosts_text="[hosts.a]\n[hosts.b]",
        spent=(100.0, 10**9),
    )
