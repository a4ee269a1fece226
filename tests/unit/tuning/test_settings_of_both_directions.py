"""What is advised of a host that both directions need something of."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from flowsweep.tuning.answer import Answer, answer, as_json
from flowsweep.tuning.places import Place
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import ENDS, VirtualPath, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow

PATH = VirtualPath("any")
BUFFERS = {"net.ipv4.tcp_rmem": "4096 131072 500000", "net.ipv4.tcp_wmem": "4096 16384 500000"}


def finals(way: Way, setting: Setting, ratio: float) -> list[Tried]:
    """A receive window holds one flow at 100 Mbit/s over 20 ms."""
    made = [
        tried(way, one, 1e8 * times, PATH, block=block)
        for block in range(3)
        for one, times in ((TODAY, 1.0), (setting, ratio))
    ]
    of_row = {"verdict": "receive window", "congestion": "cubic"}
    return [replace(one, row=cast("TrialRow", {**one.row, **of_row})) for one in made]


def told(made: list[Tried], memory: Mapping[str, str]) -> Answer:
    machine = {**BUFFERS, "net.core.netdev_max_backlog": "1000"}
    hosts: dict[str, dict[str, Any]] = {
        host: {"sysctls": {**machine, "net.ipv4.tcp_mem": memory[host]}} for host in "ab"
    }
    places = {"a": Place("this machine"), "b": Place("ssh:far")}
    return answer(made, rtt_ms=20.0, hosts=hosts, ends=ENDS, hosts_text="", spent=(1.0, 1), places=places)


def test_each_reason_names_the_direction_that_it_is_for() -> None:
    """The flows of one are needed all the same, those of the other are not."""
    made = [*finals(Way.out, Setting(8), 4.0), *finals(Way.back, Setting(4), 1.5)]
    found = told(made, {"a": "1 1 400000", "b": "500 700 1000"})
    lines = [line for one in found.how if one.host == "b" for line in one.text.splitlines()]
    out = next(line for line in lines if "Keep 8 flows" in line)
    back = next(line for line in lines if "an alternative to 4 flows" in line)
    assert out.startswith("# this machine → ssh:far: Computed, not tried: ")
    assert back.startswith("# ssh:far → this machine: Computed, not tried: ")
    told_json = as_json(found)["system_settings"]
    assert {(one["host"], one["name"], one["from"], one["to"]) for one in told_json} == {
        ("a", "net.ipv4.tcp_wmem", "a", "b"),
        ("b", "net.ipv4.tcp_rmem", "a", "b"),
        ("b", "net.ipv4.tcp_wmem", "b", "a"),
        ("a", "net.ipv4.tcp_rmem", "b", "a"),
    }
    assert "ends" not in told_json[0]
